import VoiceEngine

/// Why a call is over although the far side's signalling has not ended it.
enum MediaTimeout: Equatable, CustomStringConvertible {
  /// The far side's host reports its RTP port as closed.
  case refused
  /// The far side's source has left (RTCP BYE, RFC 3550 section 6.6), and neither a hold nor
  /// new media has followed.
  case goodbye
  /// Nothing was received for so many seconds.
  case silent(seconds: Int64)

  /// A program restarts in less; a host that refuses for longer has none.
  private static let refusalNanoseconds: Int64 = 2_000_000_000
  private static let refusalsBeforeEnd = 8
  /// By way of a server it may be a relay that refuses: the signalling knows more, and may find
  /// another one.
  private static let relayRefusalNanoseconds: Int64 = 10_000_000_000
  /// A re-INVITE or a new source follows at once; RFC 3261's timers retransmit it within 4 s.
  private static let goodbyeNanoseconds: Int64 = 5_000_000_000
  /// A network may be away for a while.
  private static let silenceNanoseconds: Int64 = 30_000_000_000

  /// Speech pauses and short holes of a network are shorter.
  private static let suspicionNanoseconds: Int64 = 2_000_000_000

  /// True if so little was received that the far side may be gone.
  static func isSuspicious(_ statistics: StreamStatistics) -> Bool {
    statistics.silenceNanoseconds > suspicionNanoseconds
  }

  /// Nil while the far side lives; media is `isExpected` from it unless it holds the call.
  init?(_ statistics: StreamStatistics, isExpected: Bool, isByServer: Bool) {
    let silence = statistics.silenceNanoseconds
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
