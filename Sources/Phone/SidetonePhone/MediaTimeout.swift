import VoiceEngine

/// Why a stream is over whose far side has not said so.
enum MediaTimeout: Equatable, CustomStringConvertible {
  /// The far side's host reports its RTP port as closed.
  case refused
  /// Nothing was heard for so many seconds.
  case silent(seconds: Int64)

  /// No sign of life for so long, with the far host saying that the port is closed, ends a call.
  private static let refusalNanoseconds: Int64 = 2_000_000_000
  private static let refusalsBeforeEnd = 8
  /// No sign of life at all for so long ends a call: a network may be away for a while.
  private static let silenceNanoseconds: Int64 = 30_000_000_000

  /// Nil while the far side lives; it is `isExpected` to say something unless it holds the call.
  init?(_ statistics: StreamStatistics, isExpected: Bool) {
    let silence = statistics.silenceNanoseconds
    if statistics.refusals >= Self.refusalsBeforeEnd, silence > Self.refusalNanoseconds {
      self = .refused
    } else if isExpected, silence > Self.silenceNanoseconds {
      self = .silent(seconds: silence / 1_000_000_000)
    } else {
      return nil
    }
  }

  var description: String {
    switch self {
    case .refused: "the far side is gone: its host refuses our packets"
    case .silent(let seconds): "nothing was heard from the far side for \(seconds) s"
    }
  }
}
