import MediaCore
import Testing

@testable import UDPTransport

/// How much is sent to an address that may be a stranger's, in virtual time.
struct UnansweredLimitTests {
  private let start = MonotonicInstant(nanoseconds: 7)

  /// The seconds at which datagrams leave, if the voice would send one every 10 ms.
  private func seconds(in limit: inout UnansweredLimit, for duration: Int) -> [Double] {
    (0..<duration * 100).compactMap { tick in
      let now = start.advanced(byNanoseconds: Int64(tick) * 10_000_000)
      return limit.allows(at: now) ? Double(tick) / 100 : nil
    }
  }

  @Test func aStrangerGetsTwentyFiveDatagramsAtMost() {
    var limit = UnansweredLimit(isLifted: false)
    let sent = seconds(in: &limit, for: 600)
    #expect(sent.count == 25 && UnansweredLimit.datagrams == 25)
    #expect(sent[19] == 0.19, "the first words are whole")
    #expect(sent[20...] == [1.19, 3.19, 7.19, 15.19, 31.19], "an outage is survived")
  }

  @Test func anAnswerLiftsTheLimit() {
    var limit = UnansweredLimit(isLifted: false)
    _ = seconds(in: &limit, for: 1)
    limit.lift()
    #expect(seconds(in: &limit, for: 1).count == 100)
    var known = UnansweredLimit(isLifted: true)
    #expect(seconds(in: &known, for: 1).count == 100)
  }
}
