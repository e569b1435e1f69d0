import MediaCore
import Testing

@testable import Playout

struct SustainedExcessTests {
  private static func second(_ second: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(second * 1e9))
  }

  @Test func excessThatNobodyBearsGoesAtOnce() {
    var lasting = SustainedExcess()
    let isUrgent = lasting.isUrgent(200_000_000, at: Self.second(1))
    #expect(isUrgent)
  }

  @Test func excessThatLastsGoesEvenWithoutASilence() {
    var lasting = SustainedExcess()
    for tenth in 0..<50 {
      let isUrgent = lasting.isUrgent(60_000_000, at: Self.second(Double(tenth) / 10))
      #expect(!isUrgent)
    }
    let isUrgent = lasting.isUrgent(60_000_000, at: Self.second(5.1))
    #expect(isUrgent)
  }

  @Test func excessThatCameAndWentIsForgotten() {
    var lasting = SustainedExcess()
    _ = lasting.isUrgent(60_000_000, at: Self.second(0))
    _ = lasting.isUrgent(10_000_000, at: Self.second(4))
    let isUrgent = lasting.isUrgent(60_000_000, at: Self.second(6))
    #expect(!isUrgent)
  }
}
