package import MediaCore

/// Loss and jitter of one received source (RFC 3550 sections 6.4.1 and A.3, A.8).
///
/// Call `begin` at the first packet of a source, then `receive` for each member packet, duplicates
/// included. Instants must not decrease.
package struct ReceptionStatistics: Sendable {
  /// Packets received, duplicates included.
  package private(set) var received: Int64 = 0
  /// Interarrival jitter in ticks of the RTP clock (A.8).
  package private(set) var jitterTicks: Double = 0
  /// Highest extended sequence number as `SequenceExtender` counts: 65,536 above the RFC's.
  package private(set) var highestSequence: Int64 = 0

  private let clockRate: SampleRate
  private var baseSequence: Int64 = 0
  private var expectedAtLastReport: Int64 = 0
  private var receivedAtLastReport: Int64 = 0
  private var lastTransit: Double?

  /// Statistics of a source whose timestamps count at `clockRate`.
  package init(clockRate: SampleRate) {
    self.clockRate = clockRate
  }

  /// Starts over at the packet with the given extended sequence number.
  @_noAllocation @_noLocks
  package mutating func begin(at sequence: Int64) {
    received = 0
    jitterTicks = 0
    lastTransit = nil
    baseSequence = sequence
    highestSequence = sequence
    expectedAtLastReport = 0
    receivedAtLastReport = 0
  }

  /// Counts one packet that arrived at `instant`; a nil timestamp leaves it out of the jitter.
  @_noAllocation @_noLocks
  package mutating func receive(
    sequence: Int64,
    timestamp: RTPTimestamp?,
    at instant: MonotonicInstant
  ) {
    received += 1
    highestSequence = max(highestSequence, sequence)
    guard let timestamp else { return }

    let arrivalTicks = Double(instant.nanoseconds) * Double(clockRate.hertz) / 1e9
    let transit = arrivalTicks - Double(timestamp.rawValue)
    if let lastTransit {
      let difference = abs(transit - lastTransit)
      // A timestamp wrap or jump is no jitter.
      if difference < Double(clockRate.hertz) * 10 {
        jitterTicks += (difference - jitterTicks) / 16
      }
    }
    lastTransit = transit
  }

  /// Packets expected so far, by their sequence numbers.
  package var expected: Int64 {
    @_noAllocation @_noLocks get { highestSequence - baseSequence + 1 }
  }

  /// Packets missing so far; negative when duplicates outnumber losses.
  package var cumulativeLost: Int64 {
    @_noAllocation @_noLocks get { received == 0 ? 0 : expected - received }
  }

  /// Returns the share lost since the last call, in 1/256 (A.3), and starts the next interval.
  @_noAllocation @_noLocks
  package mutating func takeFractionLost() -> UInt8 {
    let expectedNow = received == 0 ? 0 : expected
    let expectedInterval = expectedNow - expectedAtLastReport
    let lostInterval = expectedInterval - (received - receivedAtLastReport)
    expectedAtLastReport = expectedNow
    receivedAtLastReport = received
    guard expectedInterval > 0, lostInterval > 0 else { return 0 }
    return UInt8(min(255, lostInterval * 256 / expectedInterval))
  }
}
