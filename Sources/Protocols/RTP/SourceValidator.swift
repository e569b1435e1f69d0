package import MediaCore

/// Decides which packets belong to the stream: probation of new sources, jumps, restarts (RFC 3550
/// appendix A.1).
///
/// A new source is accepted from its second packet in sequence on, once the present source has been
/// silent for `patience`: forged datagrams cannot take over a stream in use, and a conference
/// bridge that changes its source in mid-sentence loses 60 ms at most. The first source of a call
/// is accepted at once, so that its first word is not lost. The previous source needs ten packets
/// to return while old packets of it may still be in transit.
package struct SourceValidator: Sendable {
  /// Largest sequence jump that counts as loss; beyond it is a restart (RFC 3550 appendix A.1).
  package static var maximumDropout: Int64 { @_noAllocation @_noLocks get { 3_000 } }
  /// Number of packets that a late one may lie behind the newest.
  package static var maximumMisorder: Int64 { @_noAllocation @_noLocks get { 100 } }
  /// Maximum number of packets lost between two packets of a returning source.
  private static var returningDropout: UInt16 { @_noAllocation @_noLocks get { 20 } }

  /// Minimum of `patience` for packets that are not authenticated, in nanoseconds.
  private static var shortestSilence: Int64 { @_noAllocation @_noLocks get { 40_000_000 } }
  /// Maximum of `patience`, in nanoseconds: longer than the packet interval of discontinuous
  /// transmission.
  private static var longestSilence: Int64 { @_noAllocation @_noLocks get { 600_000_000 } }
  /// Silence, in nanoseconds, after which numbers that have been may come again.
  ///
  /// Some media servers begin each prompt at 0. Packets that are as late would not be played.
  private static var renumberingSilence: Int64 { @_noAllocation @_noLocks get { 200_000_000 } }
  /// Number of packets by which others overtake one even before a silence.
  private static var reordering: Int64 { @_noAllocation @_noLocks get { 8 } }
  /// The longest packet of voice in practice, in nanoseconds.
  private static var longestPacket: Int64 { @_noAllocation @_noLocks get { 60_000_000 } }
  /// The longest time that a packet is in transit, in nanoseconds.
  private static var longestWay: Int64 { @_noAllocation @_noLocks get { 1_000_000_000 } }

  /// The decision about a packet.
  package enum Verdict: Equatable, Sendable, BitwiseCopyable {
    /// It belongs to the stream, with this extended sequence number.
    case member(Int64)
    /// It restarts the stream (first packet, new source or restarted sequence).
    case restart(Int64)
    /// It is dropped: on probation, left over from an earlier source, or far out of order.
    case refuse
  }

  /// The source of the stream; nil before the first packet.
  package private(set) var ssrc: UInt32?
  private var extender = SequenceExtender()
  private var previousSSRC: UInt32?
  private var candidate: (ssrc: UInt32, next: UInt16, seen: Int)?
  private var expectedAfterJump: UInt16?
  private let areAuthentic: Bool
  /// Time between the last two packets of the source, in nanoseconds; `longestPacket` before the
  /// second.
  private var spacing = longestPacket
  /// Time at which the present source replaced the one before.
  private var changedAt = MonotonicInstant(nanoseconds: 0)
  private var lastHeard = MonotonicInstant(nanoseconds: 0)

  /// A validator that has seen nothing.
  ///
  /// - Parameter areAuthentic: true if the packets are authenticated, so that only the far side can
  ///   have sent them: another of its sources may follow at once.
  @_noAllocation @_noLocks
  package init(areAuthentic: Bool = false) {
    self.areAuthentic = areAuthentic
  }

  /// Resets the validator, unless the present source is `ssrc`.
  @_noAllocation @_noLocks
  package mutating func keep(_ ssrc: UInt32) {
    if let present = self.ssrc, present == ssrc { return }
    self = SourceValidator(areAuthentic: areAuthentic)
  }

  /// Silence, in nanoseconds, after which another source may follow: 1.5 times the last packet
  /// interval, but 40 to 600 ms; 0 if packets are authenticated.
  package var patience: Int64 {
    @_noAllocation @_noLocks get {
      guard !areAuthentic else { return 0 }
      return min(max(spacing + spacing / 2, Self.shortestSilence), Self.longestSilence)
    }
  }

  /// Returns the verdict on a packet that arrived at `now`.
  @_noAllocation @_noLocks
  package mutating func judge(
    ssrc packetSSRC: UInt32,
    sequenceNumber: UInt16,
    at now: MonotonicInstant
  ) -> Verdict {
    guard let ssrc else {
      return restart(ssrc: packetSSRC, sequenceNumber: sequenceNumber, at: now)
    }
    guard packetSSRC == ssrc else {
      return judgeForeign(packetSSRC, sequenceNumber: sequenceNumber, at: now)
    }
    candidate = nil

    let extended = extender.extend(sequenceNumber)
    let distance = extended - (extender.newest ?? extended)
    let isAfterSilence =
      now.nanoseconds(since: lastHeard) >= Self.renumberingSilence
      || expectedAfterJump == sequenceNumber
    if distance > Self.maximumDropout || distance < -Self.maximumMisorder
      || distance < -Self.reordering && isAfterSilence
    {
      // Two packets in order after the jump: the sender restarted its numbering.
      if let expected = expectedAfterJump, expected == sequenceNumber {
        return restart(ssrc: packetSSRC, sequenceNumber: sequenceNumber, at: now)
      }
      expectedAfterJump = sequenceNumber &+ 1
      return .refuse
    }
    expectedAfterJump = nil
    extender.accept(extended)
    spacing = min(max(0, now.nanoseconds(since: lastHeard)), Self.longestSilence)
    lastHeard = now
    return .member(extended)
  }

  @_noAllocation @_noLocks
  private mutating func judgeForeign(
    _ packetSSRC: UInt32,
    sequenceNumber: UInt16,
    at now: MonotonicInstant
  ) -> Verdict {
    var seen = 1
    let isReturning =
      packetSSRC == previousSSRC && now.nanoseconds(since: changedAt) < Self.longestWay
    if let candidate, candidate.ssrc == packetSSRC {
      let skipped = sequenceNumber &- candidate.next
      if skipped <= (isReturning ? Self.returningDropout : 0) { seen = candidate.seen + 1 }
    }
    // The source before the present one may have packets on their way still: only a run of them
    // without any of the present source means that it is back.
    if seen >= (isReturning ? 10 : 2), now.nanoseconds(since: lastHeard) >= patience {
      return restart(ssrc: packetSSRC, sequenceNumber: sequenceNumber, at: now)
    }
    candidate = (packetSSRC, sequenceNumber &+ 1, seen)
    return .refuse
  }

  @_noAllocation @_noLocks
  private mutating func restart(
    ssrc packetSSRC: UInt32,
    sequenceNumber: UInt16,
    at now: MonotonicInstant
  ) -> Verdict {
    lastHeard = now
    spacing = Self.longestPacket
    if let ssrc, ssrc != packetSSRC {
      previousSSRC = ssrc
      changedAt = now
    }
    ssrc = packetSSRC
    candidate = nil
    expectedAfterJump = nil
    extender.reset()
    let extended = extender.extend(sequenceNumber)
    extender.accept(extended)
    return .restart(extended)
  }
}
