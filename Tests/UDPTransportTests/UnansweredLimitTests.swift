import MediaCore
import Testing

@testable import UDPTransport

/// Budget for datagrams to addresses that have not answered, in virtual time.
struct UnansweredLimitTests {
  @Test func callSendsTwentyFiveDatagramsOnTrustBeforeItEnds() {
    var turn: Int64 = 0
    let start: Int64 = 1_000_000_000_000
    // The voice would send one every 10 ms, for the 30 s after which a silent call ends.
    let sent = (0..<3_001).compactMap { tick -> Double? in
      let now = start + Int64(tick) * 10_000_000
      guard let next = UnansweredLimit.take(turn, at: now) else { return nil }
      turn = next
      return Double(tick) / 100
    }
    #expect(sent.count == 25)
    #expect(sent[19] == 0.19, "the first words are whole")
    #expect(sent[20...] == [6, 12, 18, 24, 30], "an outage is survived")
  }

  /// Datagrams to hosts that answer are given back, those to others are not.
  @Test func hostsThatAnswerCostNothing() {
    let answering = AnsweringAddress()
    let lent = AnsweringAddress.Lent(answering)
    let now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    func tried(_ mark: UInt64) -> Int { (0..<30).count { _ in lent.mayTry(mark, at: now) } }
    for mark in [UInt64](1...5) {
      #expect(tried(mark) == 20)
      lent.note(mark)
      lent.note(mark)
    }
    #expect((0..<15).count { _ in lent.mayTry(6, at: now) } == 15)
    #expect(tried(7) == 5)
    lent.note(6)
    #expect(tried(6) == 0, "another one has been tried since")
    lent.note(7)
    #expect(tried(7) == 5)
    withExtendedLifetime(answering) {}
  }

  @Test func budgetIsFullAgainAfterTwoMinutes() {
    var turn: Int64 = 0
    func burst(at now: Int64) -> Int {
      (0..<100).count { _ in
        guard let next = UnansweredLimit.take(turn, at: now) else { return false }
        turn = next
        return true
      }
    }
    #expect(burst(at: 5) == 20)
    #expect(burst(at: 120_000_000_005) == 20)
    #expect(burst(at: 0) == 0, "a clock that goes back gives nothing")
  }
}
