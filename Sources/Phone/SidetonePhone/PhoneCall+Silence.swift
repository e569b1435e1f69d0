import MediaCore
import SIPSignalling
import VoiceEngine

extension PhoneCall {
  /// The time, in nanoseconds, for which an answer of the far side's signalling shows that it is
  /// there; it is asked each second.
  private static let presenceNanoseconds: Int64 = 10_000_000_000

  /// Takes in the figures of a call that can be talked in since `established`: a far side that is
  /// silent is asked whether it is there, and given up if it is not.
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
