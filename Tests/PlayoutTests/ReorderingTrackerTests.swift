import MediaCore
import Testing

@testable import Playout

struct ReorderingTrackerTests {
  private static func at(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: 5_000_000_000 + milliseconds * 1_000_000)
  }

  @Test func whatIsMissingIsLostWhereNothingOvertakes() {
    var order = ReorderingTracker()
    order.note(1, after: 0, at: Self.at(0))
    order.note(4, after: 1, at: Self.at(60))
    let areLost = order.isLost(2, at: Self.at(60)) && order.isLost(3, at: Self.at(60))
    #expect(areLost)
  }

  @Test func whatIsMissingIsAwaitedAsLongAsAnotherWasOvertaken() {
    var order = ReorderingTracker()
    order.note(4, after: 1, at: Self.at(60))
    order.note(3, after: 4, at: Self.at(85))
    order.note(10, after: 4, at: Self.at(1_000))
    let early = order.isLost(9, at: Self.at(1_020))
    let late = order.isLost(9, at: Self.at(1_025))
    #expect(!early && late)
  }

  @Test func overtakingIsForgotten() {
    var order = ReorderingTracker()
    order.note(4, after: 1, at: Self.at(0))
    order.note(3, after: 4, at: Self.at(40))
    // After 20 s it counts a quarter.
    order.note(1_000, after: 998, at: Self.at(20_100))
    let early = order.isLost(999, at: Self.at(20_109))
    let late = order.isLost(999, at: Self.at(20_110))
    #expect(!early && late)
    order.note(900_000, after: 899_998, at: Self.at(18_000_000))
    let atOnce = order.isLost(899_999, at: Self.at(18_000_000))
    #expect(atOnce)
  }
}
