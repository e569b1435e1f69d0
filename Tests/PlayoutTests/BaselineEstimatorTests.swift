import MediaCore
import Testing

@testable import Playout

struct BaselineEstimatorTests {
  private func instant(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  @Test func smallestCountsWhileLittleIsKnown() {
    var window = BaselineEstimator()
    let values: [Int64] = [5, 3, 9]
    let found = values.indices.map { window.update(values[$0], at: instant($0 * 100)) }
    #expect(found == [5, 3, 3])
  }

  @Test func luckyPacketsAreLeftOut() {
    var window = BaselineEstimator()
    for step in 0..<40 { _ = window.update(100, at: instant(step * 100)) }
    let one = window.update(10, at: instant(4_000))
    let two = window.update(20, at: instant(4_100))
    let three = window.update(30, at: instant(4_200))
    #expect(one == 100 && two == 100 && three == 30)
  }

  @Test func slowerWayIsBelievedAfterTwoSeconds() {
    var window = BaselineEstimator()
    for step in 0..<40 { _ = window.update(100, at: instant(step * 100)) }
    let soon = window.update(300, at: instant(4_900))
    for step in 50..<60 { _ = window.update(300, at: instant(step * 100)) }
    let late = window.update(300, at: instant(6_100))
    #expect(soon == 100 && late == 300)
  }
}
