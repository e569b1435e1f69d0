import MediaCore
import Testing

@testable import DeviceTiming

struct PlaybackLevelTests {
  private func instant(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  @Test func fillStartsAtTwoPeriods() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    let verdict1 = fill.framesToWrite(queued: 128, at: instant(0))
    #expect(verdict1 == 128)
    #expect(fill.goal == 256)
  }

  @Test func nearMissRaisesTheGoalAndQuietLowersIt() {
    var fill = PlaybackLevel(period: 144, capacity: 4_096, rate: .voice)
    _ = fill.framesToWrite(queued: 144, at: instant(0))
    _ = fill.framesToWrite(queued: 10, at: instant(3))
    #expect(fill.goal == 360)
    func serve(until milliseconds: Int, from start: Int) {
      for step in start / 3..<milliseconds / 3 {
        _ = fill.framesToWrite(queued: 216, at: instant(step * 3))
      }
    }
    serve(until: 7_000, from: 6)
    // What was too little lately is not tried again.
    #expect(fill.goal == 360)
    serve(until: 30_000, from: 7_000)
    #expect(fill.goal == 216)
  }

  /// A device with periods of 5 ms, which is served in time for three seconds.
  private struct Device {
    var fill = PlaybackLevel(period: 240, capacity: 4_800, rate: .voice)
    var queued: FrameCount = 0
    var turns = 0

    init() { serve(600) }

    var now: MonotonicInstant { MonotonicInstant(nanoseconds: Int64(turns) * 5_000_000) }

    /// Serves the device once more; in a near miss next to nothing is left.
    mutating func turn(isNearMiss: Bool = false) {
      turns += 1
      queued = isNearMiss ? 10 : max(0, queued - 240)
      queued += fill.framesToWrite(queued: queued, at: now)
      fill.noteWriting(queued: queued)
    }

    mutating func serve(_ count: Int) { for _ in 0..<count { turn() } }
  }

  @Test func afterANearMissTheQueueGrowsTooSlowlyToBeHeard() {
    var device = Device()
    device.turn(isNearMiss: true)
    #expect(device.fill.goal == 480 && device.queued == 360 && device.fill.level == 360)
    for turn in 0..<1_990 {
      device.turn()
      #expect(abs(device.queued - 360 - turn * 240 / 4_000) <= 1)
    }
    device.serve(20)
    #expect(device.queued == 480 && device.fill.goal == 480)
  }

  @Test func afterANearMissInTheBeginningTheQueueGrowsAtOnce() {
    var fill = PlaybackLevel(period: 240, capacity: 4_800, rate: .voice)
    _ = fill.framesToWrite(queued: 240, at: instant(0))
    let more = fill.framesToWrite(queued: 10, at: instant(5))
    #expect(fill.goal == 600 && more == 590)
  }

  @Test func aSecondNearMissEndsTheGrowing() {
    var early = Device()
    early.turn(isNearMiss: true)
    early.serve(900)
    early.turn(isNearMiss: true)
    #expect(early.fill.goal == 480 && early.queued == 480)
    // It counts as one: nothing is taken back within eight seconds.
    early.serve(1_550)
    #expect(early.fill.goal == 480)
    // What was nearly there was not enough.
    var late = Device()
    late.turn(isNearMiss: true)
    late.serve(1_900)
    late.turn(isNearMiss: true)
    #expect(late.fill.goal == 600 && late.queued == 480)
  }

  @Test func afterAnUnderrunTheQueueGrowsAtOnce() {
    var device = Device()
    device.turn(isNearMiss: true)
    device.serve(100)
    device.fill.noteUnderrun(at: device.now)
    device.turn()
    #expect(device.fill.goal == 720 && device.queued == 720)
  }

  @Test func aDeviceThatTakesNothingIsGivenNothingMore() {
    var device = Device()
    device.turn(isNearMiss: true)
    for milliseconds in 1...20_000 {
      let more = device.fill.framesToWrite(
        queued: device.queued,
        at: device.now.advanced(byNanoseconds: Int64(milliseconds) * 1_000_000)
      )
      #expect(more == 0)
    }
  }

  @Test func whoWakesLateKeepsTwiceAsMuch() {
    var fill = PlaybackLevel(period: 240, capacity: 4_800, rate: .voice)
    _ = fill.framesToWrite(queued: 240, at: instant(0))
    _ = fill.framesToWrite(queued: 10, at: instant(5))
    #expect(fill.goal == 600)
    // 2.7 ms late once a second: of the 5 ms that would be left it leaves more than a near miss,
    // but not half.
    for step in 2..<12_000 {
      let late: FrameCount = step % 200 == 0 ? 130 : 0
      let now = instant(step * 5).advanced(byNanoseconds: Int64(late) * 1_000_000 / 48)
      _ = fill.framesToWrite(queued: 360 - late, at: now)
    }
    #expect(fill.goal == 600)
  }

  @Test func whoMissesOverAndOverIsTriedLessAndLess() {
    var fill = PlaybackLevel(period: 480, capacity: 4_800, rate: .voice)
    var misses: [Int] = []
    for step in 0..<60_000 {
      let isTooLow = fill.level < 960
      if fill.goal < 960 { misses.append(step) }
      _ = fill.framesToWrite(queued: isTooLow ? 40 : 480, at: instant(step * 10))
      fill.noteWriting(queued: 960)
    }
    let pauses = zip(misses.dropFirst(), misses).map { ($0 - $1) / 100 }
    // Seconds: 8, 16, 32, 64, 128, each up to the next look after four quiet seconds.
    #expect(pauses.count >= 5 && pauses[0] <= 13 && pauses[1] > pauses[0])
    #expect(pauses[4] >= 128 && pauses.dropFirst(5).allSatisfy { $0 >= 128 && $0 <= 133 })
  }

  @Test func goalIsNotLoweredToWhatWouldHaveBeenANearMiss() {
    // A card that now and then takes more at once than a period, of a program that always wakes in
    // time.
    var fill = PlaybackLevel(period: 240, capacity: 4_800, rate: .voice)
    for step in 0..<12_000 {
      _ = fill.framesToWrite(queued: step % 100 == 0 ? 100 : 240, at: instant(step * 5))
    }
    #expect(fill.goal == 480)
  }

  @Test func standstillOfACardIsForgivenOnce() {
    var fill = PlaybackLevel(period: 240, capacity: 4_800, rate: .voice)
    func turn(at milliseconds: Int, queued: FrameCount) {
      _ = fill.framesToWrite(queued: queued, at: instant(milliseconds))
      if queued == 0 { fill.noteUnderrun(at: instant(milliseconds)) }
    }
    for step in 0..<600 { turn(at: step * 5, queued: 240) }
    let goal = fill.goal
    turn(at: 3_060, queued: 0)
    #expect(fill.goal == goal && fill.underruns == 1)
    for step in 0..<600 { turn(at: 3_065 + step * 5, queued: 240) }
    turn(at: 6_120, queued: 0)
    #expect(fill.goal == goal + 240 && fill.underruns == 2)
  }

  @Test func quietDeviceKeepsHalfAPeriodLeft() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    var queued = 128
    for turn in 0..<10_000 {
      queued = max(0, queued - 128)
      queued += fill.framesToWrite(queued: queued, at: instant(turn * 8 / 3))
    }
    #expect(fill.goal == 192 && queued == 192)
  }

  @Test func callThatBeginsQuietlyIsNotMadeToWait() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    for turn in 0..<200 {
      _ = fill.framesToWrite(queued: 128, at: instant(turn * 8 / 3))
    }
    #expect(fill.goal == 192)
    var late = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    for turn in 0..<1_400 {
      _ = late.framesToWrite(queued: turn == 20 ? 20 : 128, at: instant(turn * 8 / 3))
    }
    #expect(late.goal == 320)
  }

  @Test func aProgramThatSoonWakesLateGetsBackWhatItHad() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    var goals: Set<FrameCount> = []
    for turn in 0..<1_000 {
      // 0.7 ms late a second after the start: no near miss, but more than half of the margin.
      let late: Int64 = turn == 375 ? 700_000 : 0
      let now = MonotonicInstant(nanoseconds: Int64(turn) * 8_000_000 / 3 + late)
      _ = fill.framesToWrite(queued: 128, at: now)
      goals.insert(fill.goal)
    }
    #expect(goals == [256, 192] && fill.goal == 256)
  }

  @Test func deviceThatTakesNothingIsGivenMore() {
    var fill = PlaybackLevel(period: 120, capacity: 3_840, rate: .voice)
    _ = fill.framesToWrite(queued: 240, at: instant(0))
    _ = fill.framesToWrite(queued: 240, at: instant(40))
    #expect(fill.goal == 240)
    let more = fill.framesToWrite(queued: 240, at: instant(60))
    #expect(more == 120 && fill.goal == 360)
  }

  @Test func underrunIsCountedAndRaisesTheGoal() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    _ = fill.framesToWrite(queued: 128, at: instant(0))
    fill.noteUnderrun(at: instant(5_000))
    #expect(fill.underruns == 1)
    #expect(fill.goal == 384)
  }

  @Test func emptyBufferIsOneEventWithItsUnderrun() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    _ = fill.framesToWrite(queued: 128, at: instant(0))
    // As the loop does: it finds nothing queued, writes, and learns that the buffer had run dry.
    _ = fill.framesToWrite(queued: 0, at: instant(10))
    fill.noteUnderrun(at: instant(10))
    #expect(fill.goal == 256)
    _ = fill.framesToWrite(queued: 0, at: instant(5_000))
    fill.noteUnderrun(at: instant(5_000))
    #expect(fill.goal == 384)
  }

  @Test func firstUnderrunOfAStartTeachesNothing() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    _ = fill.framesToWrite(queued: 128, at: instant(0))
    _ = fill.framesToWrite(queued: 0, at: instant(10))
    fill.noteUnderrun(at: instant(10))
    #expect(fill.underruns == 1 && fill.goal == 256)
    fill.noteUnderrun(at: instant(20))
    #expect(fill.underruns == 2 && fill.goal == 384)
  }

  @Test func goalStaysBelowTheBuffer() {
    var fill = PlaybackLevel(period: 480, capacity: 960, rate: .voice)
    for step in 0..<20 { fill.noteUnderrun(at: instant(step)) }
    #expect(fill.goal <= 480)
  }

  @Test func deviceThatStandsStillForAWhileIsWaitedFor() {
    var fill = PlaybackLevel(period: 120, capacity: 4_800, rate: .voice)
    var queued = 0
    for step in 0..<1_200 {
      queued = max(0, queued - 96)
      queued += fill.framesToWrite(queued: queued, at: instant(step * 2))
    }
    let goal = fill.goal
    for step in 1_200..<1_600 {
      queued += fill.framesToWrite(queued: queued, at: instant(step * 2))
    }
    #expect(fill.goal == goal && queued == goal)
  }

  /// Lets a sound server take a period of 128 frames each 2.667 ms, and a thread that is woken
  /// `lateness` later serve it until `milliseconds`.
  private func serve(
    _ fill: inout PlaybackLevel,
    from start: Int = 0,
    until milliseconds: Int,
    queued before: Int = 256,
    takesBlocks: Bool = true,
    lateness: (Int) -> Int64 = { _ in 20_000 }
  ) -> (queued: Int, postponement: Int64, runsDry: Int) {
    var queued = before
    var runsDry = 0
    var postponement: Int64 = 0
    for cycle in start * 3 / 8 + 1..<milliseconds * 3 / 8 {
      runsDry += queued < 128 ? 1 : 0
      queued = max(0, queued - 128)
      let begin = Int64(cycle) * 8_000_000 / 3
      let tick = MonotonicInstant(nanoseconds: begin + lateness(cycle))
      let due = max(tick, fill.timeToWrite(queued: queued, at: tick))
      postponement = due.nanoseconds - begin
      queued += fill.framesToWrite(queued: queued, at: due)
      fill.noteWriting(queued: queued)
      guard let look = fill.timeToLook(at: tick) else { continue }
      let taken = takesBlocks ? 0 : Int((look.nanoseconds - due.nanoseconds) * 48 / 1_000_000)
      fill.look(queued: queued - taken)
    }
    return (queued, postponement, runsDry)
  }

  @Test func deviceThatTakesBlocksIsWrittenToInMidCycle() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    let young = serve(&fill, until: 400)
    // At once while little is known of how threads wake, and one block.
    #expect(young.queued == 144 && young.postponement < 100_000)
    var quiet = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    let old = serve(&quiet, until: 15_000)
    #expect(old.queued == 144 && old.runsDry == 0)
    #expect((1_300_000...1_400_000).contains(old.postponement))
  }

  @Test func standstillThatNoMarginBridgesIsForgivenOnce() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    _ = serve(&fill, until: 15_000)
    let goal = fill.goal
    // The machine stands still for 8 ms.
    func stand(_ fill: inout PlaybackLevel, at milliseconds: Int, for lateness: Int64) {
      let cycle = Int64(milliseconds * 3 / 8) * 8_000_000 / 3
      for (begin, left) in [(cycle, 16), (cycle + 8_000_000 / 3 + lateness, 0)] {
        let tick = MonotonicInstant(nanoseconds: begin)
        _ = fill.timeToWrite(queued: left, at: tick)
        let more = fill.framesToWrite(queued: left, at: tick)
        if left == 0 { fill.noteUnderrun(at: tick) }
        fill.noteWriting(queued: left + more)
      }
    }
    stand(&fill, at: 15_003, for: 8_000_000)
    #expect(fill.underruns == 1 && fill.goal == goal)
    _ = serve(&fill, from: 15_020, until: 18_000)
    stand(&fill, at: 18_003, for: 8_000_000)
    #expect(fill.underruns == 2 && fill.goal == goal + 128)
    var other = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    _ = serve(&other, until: 15_000)
    stand(&other, at: 15_003, for: 2_000_000)
    #expect(other.goal == goal + 128)
  }

  @Test func nearMissesOfADeviceThatTakesBlocksCountEachTime() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    var queued = serve(&fill, until: 15_000).queued
    let goal = fill.goal
    // The program wakes 2.25 ms late: of its cycle next to nothing is left.
    func miss(_ fill: inout PlaybackLevel, at milliseconds: Int) {
      let late = milliseconds * 3 / 8 + 6
      queued =
        serve(&fill, from: milliseconds, until: milliseconds + 96, queued: queued) {
          $0 == late ? 2_250_000 : 20_000
        }.queued
    }
    miss(&fill, at: 15_000)
    let once = fill.goal
    miss(&fill, at: 15_096)
    #expect(once > goal && fill.goal > once)
  }

  @Test func standstillBeforeTheWritingInMidCycleIsForgiven() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    let postponement = serve(&fill, until: 15_000).postponement
    let goal = fill.goal
    let tick = MonotonicInstant(nanoseconds: 5_625 * 8_000_000 / 3)
    let due = fill.timeToWrite(queued: 16, at: tick)
    #expect(due.nanoseconds - tick.nanoseconds > postponement - 100_000)
    let late = due.advanced(byNanoseconds: 8_000_000)
    _ = fill.framesToWrite(queued: 0, at: late)
    fill.noteUnderrun(at: late)
    #expect(fill.underruns == 1 && fill.goal == goal)
  }

  @Test func longStandstillBeforeTheWritingInMidCycleIsForgiven() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    _ = serve(&fill, until: 15_000)
    let goal = fill.goal
    let due = fill.timeToWrite(
      queued: 16,
      at: MonotonicInstant(nanoseconds: 5_625 * 8_000_000 / 3)
    )
    let late = due.advanced(byNanoseconds: 500_000_000)
    _ = fill.framesToWrite(queued: 0, at: late)
    fill.noteUnderrun(at: late)
    #expect(fill.underruns == 1 && fill.goal == goal)
  }

  @Test func deviceThatTakesFramesAllTheTimeIsWrittenToAtOnce() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    let end = serve(&fill, until: 15_000, takesBlocks: false)
    #expect(end.postponement < 100_000 && end.queued == 192)
  }

  @Test func threadThatWakesLateNowAndThenWritesAtOnce() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    let end = serve(&fill, until: 60_000) { $0 % 1_000 == 0 ? 900_000 : 20_000 }
    #expect(end.postponement < 100_000 && end.runsDry == 0)
  }

  @Test func oneLateWakeUpDoesNotMoveTheCycle() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    let end = serve(&fill, until: 20_000) { $0 > 7_498 ? 600_000 : 20_000 }
    // Woken later than it was used to, it still writes in the middle of the true cycle: after half
    // of 2,667 µs, give or take the twenty of a wake-up and a tenth of a period.
    #expect((1_300_000...1_450_000).contains(end.postponement))
  }

  // Each half a second 2 ms pass in which the device takes nothing, or as always.
  @Test(arguments: [true, false])
  func deviceThatStandsStillNowAndThenNeedsNoMargin(stands: Bool) {
    var fill = PlaybackLevel(period: 120, capacity: 4_800, rate: .voice)
    var now: Int64 = 0
    var queued = 0
    for turn in 0..<8_000 {
      let pause: Int64 = turn % 200 == 100 ? 2_000_000 : 0
      now += 2_500_000 + pause
      queued = max(0, queued - 120 - (stands ? 0 : Int(pause * 48 / 1_000_000)))
      queued += fill.framesToWrite(queued: queued, at: MonotonicInstant(nanoseconds: now))
      fill.noteWriting(queued: queued)
      // It takes frames all the time.
      fill.look(queued: queued - 60)
    }
    #expect((fill.goal == 180) == stands)
  }

  @Test func lateWakeUpsKeepTheMarginWhereNothingIsKnownOfCycles() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    var queued = 0
    for cycle in 0..<8_000 {
      // Blocks are taken whole, and now and then the program comes half a period after that.
      let late: Int64 = cycle % 200 == 100 ? 1_333_000 : 20_000
      let now = MonotonicInstant(nanoseconds: Int64(cycle) * 8_000_000 / 3 + late)
      queued = max(0, queued - 128)
      queued += fill.framesToWrite(queued: queued, at: now)
      fill.noteWriting(queued: queued)
    }
    #expect(fill.goal == 256)
  }

  @Test func longPeriodsAreNotGivenHalfOfOneAsMargin() {
    var fill = PlaybackLevel(period: 960, capacity: 9_600, rate: .voice)
    _ = fill.framesToWrite(queued: 0, at: instant(0))
    #expect(fill.goal == 960 + 480)
    for step in 1...1_500 { _ = fill.framesToWrite(queued: 400, at: instant(step * 20)) }
    #expect(fill.goal == 960 + 240)
  }

  @Test func deviceThatIsCoarserThanItsPeriodIsWrittenToAtOnce() {
    // Its clock ticks each 4 ms, and then 192 frames are gone, not 120.
    var fill = PlaybackLevel(period: 120, capacity: 4_800, rate: .voice)
    var queued = 240
    var looks = 0
    for tick in 1..<2_000 {
      queued = max(0, queued - 192)
      let now = MonotonicInstant(nanoseconds: Int64(tick) * 4_000_000)
      let due = fill.timeToWrite(queued: queued, at: now)
      #expect(due <= now)
      queued += fill.framesToWrite(queued: queued, at: now)
      fill.noteWriting(queued: queued)
      guard fill.timeToLook(at: now) != nil else { continue }
      looks += 1
      fill.look(queued: queued)
    }
    #expect(looks > 16 && looks < 300 && queued >= 192)
  }
}
