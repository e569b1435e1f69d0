import VoiceEngine

/// The reason why a call is over although the far side's signalling has not ended it.
enum MediaTimeout: Equatable, CustomStringConvertible {
  /// The far side's host reports its RTP port as closed.
  case refused
  /// The far side's source has left (RTCP BYE, RFC 3550 section 6.6), and neither a hold nor
  /// new media has followed.
  case goodbye
  /// Nothing was received for the given number of seconds.
  case silent(seconds: Int64)

  /// Silence, in nanoseconds, after which refusals end a call: a program restarts in less, and the
  /// far side's signalling has been queried for two seconds by then.
  private static let refusalNanoseconds: Int64 = 4_000_000_000
  private static let refusalsBeforeEnd = 8
  /// The same for a call through a server, where a relay may refuse the packets: the signalling
  /// knows more, and may find another relay.
  private static let relayRefusalNanoseconds: Int64 = 10_000_000_000
  /// Silence, in nanoseconds, after which a BYE ends a call: a re-INVITE or a new source would
  /// follow at once, and RFC 3261's timers retransmit it within 4 s.
  private static let goodbyeNanoseconds: Int64 = 5_000_000_000
  /// Silence, in nanoseconds, that ends a call: longer than a short network outage.
  private static let silenceNanoseconds: Int64 = 30_000_000_000
  /// The longest silence of a far side whose signalling answers, in nanoseconds.
  ///
  /// Such a far side may hold the call by closing its port or ending its source. The limit ends
  /// calls that were forgotten in such a hold, but none with a far side that only listens, as
  /// loudspeakers and recorders do: nothing was ever heard of it.
  private static let presentNanoseconds: Int64 = 600_000_000_000

  /// Time without packets, in nanoseconds, after which the far side may be gone; speech pauses and
  /// short network outages are shorter.
  private static let suspicionNanoseconds: Int64 = 2_000_000_000
  /// The same before the first packet: a far side in a speech pause would have sent packets before.
  private static let firstSuspicionNanoseconds: Int64 = 800_000_000

  /// True if so little was received that the far side may be gone.
  ///
  /// `isExpected` is false during a remote hold.
  static func isSuspicious(_ statistics: StreamStatistics, isExpected: Bool) -> Bool {
    let isHeard = statistics.packetsReceived > 0
    let limit = isHeard ? suspicionNanoseconds : firstSuspicionNanoseconds
    return statistics.silenceNanoseconds > limit
      && (isExpected || statistics.refusals >= refusalsBeforeEnd)
  }

  /// Nil unless the stream timed out.
  ///
  /// `isExpected` is false during a remote hold. `isPresent` is true if the far side's signalling
  /// has answered since it fell silent.
  init?(
    _ statistics: StreamStatistics,
    isExpected: Bool,
    isByServer: Bool,
    isPresent: Bool = false
  ) {
    let silence = statistics.silenceNanoseconds
    guard !isPresent else {
      guard isExpected, statistics.packetsReceived > 0, silence > Self.presentNanoseconds else {
        return nil
      }
      self = .silent(seconds: silence / 1_000_000_000)
      return
    }
    let refusal = isByServer ? Self.relayRefusalNanoseconds : Self.refusalNanoseconds
    if statistics.refusals >= Self.refusalsBeforeEnd, silence > refusal {
      self = .refused
    } else if isExpected, statistics.isFarGone, silence > Self.goodbyeNanoseconds {
      self = .goodbye
    } else if isExpected, silence > Self.silenceNanoseconds {
      self = .silent(seconds: silence / 1_000_000_000)
    } else {
      return nil
    }
  }

  var description: String {
    switch self {
    case .refused: "the far side is gone: its host refuses our packets"
    case .goodbye: "the far side has ended its voice"
    case .silent(let seconds): "nothing was heard from the far side for \(seconds) s"
    }
  }
}
