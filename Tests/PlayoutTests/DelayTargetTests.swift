import Foundation
import MediaCore
import Simulation
import Testing

@testable import Playout

struct DelayTargetTests {
  /// Feeds packets of 10 ms, each of which waits `wait` nanoseconds until the player asks for it.
  private static func feed(
    _ target: inout DelayTarget,
    packets: Range<Int>,
    wait: (Int) -> Int64
  ) {
    for index in packets {
      target.update(
        mediaFrame: Int64(index) * 480,
        frames: 480,
        arrival: MonotonicInstant(nanoseconds: Int64(index) * 10_000_000),
        wait: wait(index)
      )
    }
  }

  private static func afterAMinute(wait: (Int) -> Int64) -> Int64 {
    var target = DelayTarget()
    feed(&target, packets: 0..<6_000, wait: wait)
    return target.nanoseconds
  }

  @Test func playerInStepWithThePacketsIsWaitedForAsLongAsItTakes() {
    let none = Self.afterAMinute { _ in 0 }
    let half = Self.afterAMinute { _ in 1_250_000 }
    #expect(none <= 750_000)
    #expect(abs(half - none - 1_250_000) <= 250_000)
  }

  @Test func playerOutOfStepCostsAsMuchAsItsGrainAtMost() {
    let all = Self.afterAMinute { Int64($0 % 100) * 25_000 }
    let most = Self.afterAMinute { _ in 2_500_000 }
    #expect(all <= most + 250_000 && all > 2_000_000)
  }

  @Test func shorterWaitsAreBelievedAtOnce() {
    var target = DelayTarget()
    Self.feed(&target, packets: 0..<6_000) { _ in 2_500_000 }
    let before = target.nanoseconds
    target.noteWaits(.shorter(by: 1_250_000))
    Self.feed(&target, packets: 6_000..<6_010) { _ in 1_250_000 }
    let after = target.nanoseconds
    #expect(before - after >= 1_000_000)
  }

  /// A device with cycles of 85 ms, and one of 5 ms after it.
  @Test func shorterPeriodsAreBelievedAtOnce() {
    var target = DelayTarget()
    Self.feed(&target, packets: 0..<6_000) { Int64($0 % 34) * 2_500_000 }
    #expect(target.nanoseconds > 80_000_000)
    target.noteWaits(.period(from: 85_000_000, to: 5_000_000))
    Self.feed(&target, packets: 6_000..<6_010) { Int64($0 % 2) * 2_500_000 }
    #expect(target.nanoseconds < 8_000_000)
  }

  @Test func longerPeriodsAreLearned() {
    var target = DelayTarget()
    Self.feed(&target, packets: 0..<6_000) { _ in 2_500_000 }
    let before = target.nanoseconds
    target.noteWaits(.period(from: 5_000_000, to: 85_000_000))
    #expect(target.nanoseconds == before)
  }

  @Test func waitsThatChangeToAndFroLeaveNoTrace() {
    var target = DelayTarget()
    Self.feed(&target, packets: 0..<6_000) { _ in 2_500_000 }
    let before = target.nanoseconds
    for _ in 0..<4 {
      target.noteWaits(.shorter(by: 1_250_000))
      target.noteWaits(.shorter(by: -1_250_000))
    }
    Self.feed(&target, packets: 6_000..<6_010) { _ in 2_500_000 }
    #expect(target.nanoseconds == before)
  }

  @Test func whatWasLittleLateIsForgottenSoonerThanWhatWasVeryLate() {
    func target(afterOneLateBy late: Int64, seconds: Int) -> Int64 {
      var target = DelayTarget()
      Self.feed(&target, packets: 0..<6_000 + seconds * 100) { $0 == 6_000 ? late : 0 }
      return target.nanoseconds
    }
    // In the measure of very late packets both would be worth waiting for.
    #expect(target(afterOneLateBy: 2_000_000, seconds: 65) < 1_000_000)
    #expect(target(afterOneLateBy: 8_000_000, seconds: 20) > 8_000_000)
  }

  @Test func littleJitterIsNotFearedForItsTail() {
    var generator = SeededGenerator(seed: 3)
    // Exponential, of 0.2 ms in the mean: one in a thousand is later than 1.4 ms.
    var target = DelayTarget()
    Self.feed(&target, packets: 0..<3_100) { _ in Int64(-200_000 * log(1 - generator.unit())) }
    #expect(target.nanoseconds < 1_800_000)
  }

  /// ITU-T G.107: from 177 ms from mouth to ear on, a millisecond costs 5.6 times as much.
  @Test func stragglersAreWaitedForWhereDelayIsNotFeltYet() {
    func target(lateBy late: Int64, elsewhere: Int64, without: Bool = false) -> Int64 {
      var mechanisms = PlayoutMechanisms()
      mechanisms.feltDelay = !without
      var target = DelayTarget(mechanisms)
      target.delayElsewhere = elsewhere
      Self.feed(&target, packets: 0..<6_000) { $0 % 700 == 0 ? late : 0 }
      return target.nanoseconds / 1_000_000
    }
    // After a minute they are worth 71 ms of delay, or 13 that are felt.
    #expect((60...62).contains(target(lateBy: 60_000_000, elsewhere: 0)))
    #expect((60...62).contains(target(lateBy: 60_000_000, elsewhere: 110_000_000)))
    #expect(target(lateBy: 60_000_000, elsewhere: 170_000_000) < 10)
    #expect((60...62).contains(target(lateBy: 60_000_000, elsewhere: 170_000_000, without: true)))
    // 60 ms more end just below 177 ms here; there all of them are felt.
    #expect((60...62).contains(target(lateBy: 60_000_000, elsewhere: 116_000_000)))
    #expect(target(lateBy: 60_000_000, elsewhere: 400_000_000) < 10)
  }

  @Test func rareJitterIsRememberedForLongerWhileDelayIsNotNoticed() {
    // Every other packet is late by `usual`, and one of them by 8 ms more, 50 s before the end.
    func reserve(beyond usual: Int64) -> Int64 {
      let arrivals = (0..<11_001).map { index in
        let lateness = Int64(index % 2) * (usual + (index == 6_001 ? 8_000_000 : 0))
        return (index: index, nanoseconds: Int64(index) * 10_000_000 + lateness)
      }
      var target = DelayTarget()
      for arrival in arrivals.sorted(by: { $0.nanoseconds < $1.nanoseconds }) {
        target.update(
          mediaFrame: Int64(arrival.index) * 480,
          frames: 480,
          arrival: MonotonicInstant(nanoseconds: arrival.nanoseconds),
          wait: 0
        )
      }
      return target.nanoseconds - usual
    }
    #expect(reserve(beyond: 6_000_000) > 8_000_000)
    #expect(reserve(beyond: 60_000_000) < 1_000_000)
  }
}
