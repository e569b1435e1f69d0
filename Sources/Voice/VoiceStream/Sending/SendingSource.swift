package import MediaCore
import RTP
import Synchronization

/// Numbers of an RTP source at a moment, from which the next stream continues.
package struct SendingPosition: BitwiseCopyable, Sendable {
  var sequenceNumber: UInt16
  var timestamp: RTPTimestamp
  var packetsSent: Int64
  var bytesSent: Int64
  /// Instant to which `timestamp` belongs.
  var instant: MonotonicInstant
  /// Digits that are not sent yet, the first of them perhaps in part.
  var digits: TelephoneEventSender
  /// Digits of the far side that are known already.
  var digitsHeard = DigitHistory()
}

// SAFETY: the position belongs to the stream that took the source: an atomic flag lets one do so.
/// An RTP source that the streams of a call use one after the other.
///
/// After a hold it continues with the numbers that follow (RFC 3550 section 5.1), and it sends one
/// BYE, at the call's end.
///
/// **Thread safety:** made on one thread; one stream at a time has its position.
@safe
package final class SendingSource: @unchecked Sendable {
  /// Synchronisation source (SSRC).
  package let ssrc: UInt32
  /// `StreamConfiguration.seed` of each of its streams, which names the sender in RTCP.
  package let seed: UInt64
  /// The rate of the RTP timestamps of its streams.
  package let clockRate: SampleRate

  private enum State {
    static let free = 0
    static let taken = 1
    static let ended = 2
  }

  private let state = Atomic<Int>(State.free)
  // SAFETY: the stream that took the source uses it alone.
  @safe @exclusivity(unchecked) private var position: SendingPosition?

  /// Creates a source that has sent nothing, with numbers drawn at random.
  package init(clockRate: SampleRate) {
    ssrc = .random(in: 1...UInt32.max)
    seed = .random(in: 1...UInt64.max)
    self.clockRate = clockRate
  }

  /// True once it has sent its BYE; anything sent later is of another source.
  package var isEnded: Bool { state.load(ordering: .acquiring) == State.ended }

  /// Takes the source and calls `body` with its position, nil if it has sent nothing.
  ///
  /// Returns false, without a call of `body`, if another stream has the source or it has ended.
  package func take(_ body: (SendingPosition?) -> Void) -> Bool {
    let isTaken = state.compareExchange(
      expected: State.free,
      desired: State.taken,
      ordering: .acquiring
    ).exchanged
    if isTaken { body(position) }
    return isTaken
  }

  /// Hands the source to the next stream of the call, or ends it.
  package func leave(at position: SendingPosition, isLast: Bool) {
    self.position = position
    state.store(isLast ? State.ended : State.free, ordering: .releasing)
  }
}

extension VoiceStream {
  /// Returns the position of the stream's source at `now`.
  package func position(at now: MonotonicInstant) -> SendingPosition {
    var position = sender.position(at: now)
    position.digitsHeard = digits.history
    return position
  }

  /// Continues as the source of another stream that ended at `position`.
  package mutating func resume(from position: SendingPosition, at now: MonotonicInstant) {
    sender.resume(from: position, at: now)
    digits.follow(position.digitsHeard)
  }
}
