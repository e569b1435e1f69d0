import MediaCore
import SIPSignalling
import VoiceEngine

extension PhoneCall {
  /// Time for which an answer of the far side's signalling shows its presence, in nanoseconds;
  /// queries are sent once a second.
  private static let presenceNanoseconds: Int64 = 10_000_000_000

  /// Evaluates the statistics of a call established at `established`: queries a silent far side for
  /// its presence, and ends the call after a media timeout.
  mutating func judge(
    _ statistics: StreamStatistics,
    since established: MonotonicInstant,
    at now: MonotonicInstant
  ) -> [PhoneCallEffect] {
    hold.resume = nil
    var statistics = statistics
    let age = now.nanoseconds(since: established)
    statistics.silenceNanoseconds = min(statistics.silenceNanoseconds, age)
    let isExpected = media?.mayReceive == true && !hold.isHeldByFarSide
    let answer = presentAt.map { now.nanoseconds(since: $0) } ?? .max
    let timeout = MediaTimeout(
      statistics,
      isExpected: isExpected,
      isByServer: isByServer,
      isPresent: answer < min(Self.presenceNanoseconds, statistics.silenceNanoseconds)
    )
    if let timeout { return abandon(.lost(timeout.description)) }
    // A relay between the sides does not say that one is gone; the signalling may.
    guard MediaTimeout.isSuspicious(statistics, isExpected: isExpected), let sip else { return [] }
    return [.ask(sip)]
  }
}
