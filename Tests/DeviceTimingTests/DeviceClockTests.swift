import MediaCore
import DeviceTiming
import Testing

struct DeviceClockTests {
  /// A loudspeaker at 48 kHz whose position moves in steps, and is read at intervals.
  private struct Loudspeaker {
    let step: Int64
    var stalls: [Range<Int64>] = []
    var dry: [Range<Int64>] = []

    /// Nanoseconds of sound played by the time `now`, without stalls.
    func sounded(by now: Int64) -> Int64 {
      now - stalls.reduce(0) { $0 + max(0, min(now, $1.upperBound) - $1.lowerBound) }
    }

    func update(_ clock: inout DeviceClock, at now: Int64) {
      let missing = dry.reduce(0) { $0 + max(0, min(now, $1.upperBound) - $1.lowerBound) }
      let frames = (sounded(by: now) - missing) * 48 / 1_000_000
      clock.update(
        frames: frames / step * step,
        isDry: dry.contains { $0.contains(now) },
        at: MonotonicInstant(nanoseconds: now)
      )
    }
  }

  private static let millisecond: Int64 = 1_000_000

  /// Difference between the clock and the sound played, in milliseconds, at each reading.
  private func errors(
    of loudspeaker: Loudspeaker,
    period: FrameCount,
    lookEvery interval: Int64 = 1_330_000,
    until end: Int64 = 2_000_000_000
  ) -> [Double] {
    var clock = DeviceClock(period: period, rate: .voice)
    return stride(from: 0, to: end, by: Int(interval)).map { now in
      loudspeaker.update(&clock, at: Int64(now))
      return Double(clock.now.nanoseconds - loudspeaker.sounded(by: Int64(now))) / 1e6
    }
  }

  @Test func runsEvenlyBetweenThePositionsOfASteadyDevice() {
    let errors = errors(of: Loudspeaker(step: 128), period: 128)
    #expect(errors.allSatisfy { abs($0) < 0.1 })
  }

  @Test func learnsThatADeviceIsCoarserThanItsPeriod() {
    let errors = errors(of: Loudspeaker(step: 1_024), period: 128)
    #expect(errors.suffix(errors.count / 2).allSatisfy { abs($0) < 0.1 })
  }

  @Test func standsStillWhileTheLoudspeakerDoes() {
    let stalls = (1..<20).map { second in
      Int64(second) * 100 * Self.millisecond..<(Int64(second) * 100 + 60) * Self.millisecond
    }
    let errors = errors(of: Loudspeaker(step: 128, stalls: stalls), period: 128)
    // A stall is noticed a period after it began.
    #expect(errors.allSatisfy { $0 > -2.7 && $0 < 2.8 })
    #expect(errors.suffix(20).allSatisfy { abs($0) < 2.8 })
  }

  @Test func goesOnWhileTheBufferIsDry() {
    let dry = 500 * Self.millisecond..<620 * Self.millisecond
    let errors = errors(of: Loudspeaker(step: 128, dry: [dry]), period: 128)
    #expect(errors.allSatisfy { abs($0) < 2.8 })
  }

  @Test func aThreadThatWasStoppedFindsTheTimeThatPassed() {
    var clock = DeviceClock(period: 128, rate: .voice)
    let loudspeaker = Loudspeaker(step: 128)
    loudspeaker.update(&clock, at: 0)
    loudspeaker.update(&clock, at: 1_330_000)
    loudspeaker.update(&clock, at: 500 * Self.millisecond)
    #expect(abs(clock.now.nanoseconds - 500 * Self.millisecond) < 2_700_000)
    // A packet that came meanwhile is dated back.
    let came = clock.time(of: MonotonicInstant(nanoseconds: 400 * Self.millisecond))
    #expect(abs(came.nanoseconds - 400 * Self.millisecond) < 2_700_000)
    // But never to before the last look, when it was not there yet.
    let long = clock.time(of: MonotonicInstant(nanoseconds: -5))
    #expect(long.nanoseconds >= 1_300_000)
  }

  @Test func aDeviceThatBeganAnewIsTimedOn() {
    var clock = DeviceClock(period: 128, rate: .voice)
    for turn in 0..<400 {
      // After a second the device recovers: 256 frames of silence that were not written are queued
      // first.
      if turn == 200 { clock.noteRestart() }
      let frames = Int64(turn) * 120 - (turn >= 200 ? 256 : 0)
      clock.update(
        frames: frames,
        isDry: turn == 199,
        at: MonotonicInstant(nanoseconds: Int64(turn) * 2_500_000)
      )
    }
    #expect(abs(clock.now.nanoseconds - 399 * 2_500_000) < 100_000)
  }

  @Test func anotherDeviceIsTimedFromWhereTheFirstEnded() {
    var clock = DeviceClock(period: 120, rate: .voice)
    for turn in 0..<400 {
      // After half a second the sound moves to one at 32 kHz, which begins to count at zero.
      if turn == 200 { clock.changeDevice(period: 80, rate: SampleRate(hertz: 32_000)) }
      clock.update(
        frames: Int64(turn < 200 ? turn * 120 : (turn - 200) * 80),
        isDry: false,
        at: MonotonicInstant(nanoseconds: Int64(turn) * 2_500_000)
      )
    }
    #expect(abs(clock.now.nanoseconds - 399 * 2_500_000) < 100_000)
  }

  @Test func whatTheDeviceSaidFirstMayBeAStepOld() {
    // Its clock ticks each 4 ms, and it was started just after a tick, and looked at just before
    // and just after others.
    var clock = DeviceClock(period: 240, rate: .voice)
    var mistakes: [Int64] = []
    for tick in 0..<1_000 as Range<Int64> {
      if tick == 500 { clock.noteRestart() }
      let isAtFirst = tick % 500 < 3
      let now = tick * 4 * Self.millisecond + (isAtFirst ? 3_900_000 : 100_000)
      clock.update(
        frames: (tick % 500) * 192,
        isDry: false,
        at: MonotonicInstant(nanoseconds: now)
      )
      mistakes.append(clock.now.nanoseconds - now)
    }
    #expect(mistakes.allSatisfy { abs($0) < 10_000 })
  }

  @Test func whatIsGoneHasNotSoundedItsQueue() {
    var clock = DeviceClock(period: 240, rate: .voice)
    for turn in 0..<100 as Range<Int64> {
      let now = MonotonicInstant(nanoseconds: turn * 5 * Self.millisecond)
      clock.update(frames: turn * 240, isDry: false, at: now)
    }
    // 10 ms were queued when it was pulled.
    let end = MonotonicInstant(nanoseconds: 500 * Self.millisecond)
    clock.update(frames: 100 * 240 + 480, isDry: true, at: end)
    #expect(clock.now == end)
  }

  @Test func aStallThatIsCaughtUpWithIsNoCoarseness() {
    var clock = DeviceClock(period: 128, rate: .voice)
    func look(_ milliseconds: Int64, frames: Int64) {
      clock.update(
        frames: frames,
        isDry: false,
        at: MonotonicInstant(nanoseconds: milliseconds * Self.millisecond)
      )
    }
    for turn in 0..<100 { look(Int64(turn), frames: Int64(turn) * 48) }
    // 60 ms without a position, then all of them at once, and a stall that nothing makes good.
    for turn in 100..<160 { look(Int64(turn), frames: 99 * 48) }
    look(160, frames: 160 * 48)
    for turn in 161..<200 { look(Int64(turn), frames: Int64(turn) * 48) }
    for turn in 200..<260 { look(Int64(turn), frames: 199 * 48) }
    #expect(clock.now.nanoseconds < 203 * Self.millisecond)
  }

  @Test func neverRunsBackwardsAndSurvivesAnyInput() {
    var clock = DeviceClock(period: 128, rate: .voice)
    var last = MonotonicInstant(nanoseconds: .min)
    for now in [0, 5, 3, 1_000_000_000, 900_000_000, 2_000_000_000] as [Int64] {
      for frames in [0, 48_000, -5, 1 << 40] as [Int64] {
        clock.update(
          frames: frames,
          isDry: frames % 2 == 0,
          at: MonotonicInstant(nanoseconds: now)
        )
        #expect(clock.now >= last || last.nanoseconds == .min)
        last = clock.now
      }
    }
  }

  @Test func waitIsTheTimeUntilTheLoudspeakerAsksButNoStandstill() {
    var clock = DeviceClock(period: 120, rate: .voice)
    for turn in 0...10 {
      let now = MonotonicInstant(nanoseconds: Int64(turn) * 2_500_000)
      clock.update(frames: Int64(turn) * 120, isDry: false, at: now)
    }
    #expect(clock.wait(since: MonotonicInstant(nanoseconds: 24_000_000)) == 1_000_000)
    #expect(clock.wait(since: MonotonicInstant(nanoseconds: 25_500_000)) == 0)
    // The program stood still for 50 ms while the loudspeaker went on.
    clock.update(frames: 31 * 120, isDry: false, at: MonotonicInstant(nanoseconds: 77_500_000))
    #expect(clock.wait(since: MonotonicInstant(nanoseconds: 30_000_000)) == 2_500_000)
  }
}
