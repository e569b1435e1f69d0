import MediaTime
import Testing

@testable import Playout

struct PlaybackFillTests {
  private func instant(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  @Test func fillStartsAtTwoPeriods() {
    var fill = PlaybackFill(period: 128, capacity: 4_096, rate: .voice)
    let verdict1 = fill.framesToWrite(queued: 128, at: instant(0))
    #expect(verdict1 == 128)
    #expect(fill.goal == 256)
  }

  @Test func nearMissRaisesTheGoalAndQuietLowersIt() {
    var fill = PlaybackFill(period: 128, capacity: 4_096, rate: .voice)
    _ = fill.framesToWrite(queued: 128, at: instant(0))
    _ = fill.framesToWrite(queued: 10, at: instant(3))
    #expect(fill.goal == 320)
    for step in 1...50 { _ = fill.framesToWrite(queued: 200, at: instant(3 + step * 1_000)) }
    // What was too little within the last minute is not tried again.
    #expect(fill.goal == 320)
    for step in 51...99 { _ = fill.framesToWrite(queued: 200, at: instant(3 + step * 1_000)) }
    #expect(fill.goal == 192)
  }

  @Test func quietDeviceKeepsHalfAPeriodLeft() {
    var fill = PlaybackFill(period: 128, capacity: 4_096, rate: .voice)
    var queued = 128
    for turn in 0..<10_000 {
      queued = max(0, queued - 128)
      queued += fill.framesToWrite(queued: queued, at: instant(turn * 8 / 3))
    }
    #expect(fill.goal == 192 && queued == 192)
  }

  @Test func deviceThatTakesNothingIsGivenMore() {
    var fill = PlaybackFill(period: 120, capacity: 3_840, rate: .voice)
    _ = fill.framesToWrite(queued: 240, at: instant(0))
    _ = fill.framesToWrite(queued: 240, at: instant(40))
    #expect(fill.goal == 240)
    let more = fill.framesToWrite(queued: 240, at: instant(60))
    #expect(more == 120 && fill.goal == 360)
  }

  @Test func underrunIsCountedAndRaisesTheGoal() {
    var fill = PlaybackFill(period: 128, capacity: 4_096, rate: .voice)
    _ = fill.framesToWrite(queued: 128, at: instant(0))
    fill.noteUnderrun(at: instant(5_000))
    #expect(fill.underruns == 1)
    #expect(fill.goal == 384)
  }

  @Test func emptyBufferIsOneEventWithItsUnderrun() {
    var fill = PlaybackFill(period: 128, capacity: 4_096, rate: .voice)
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
    var fill = PlaybackFill(period: 128, capacity: 4_096, rate: .voice)
    _ = fill.framesToWrite(queued: 128, at: instant(0))
    fill.noteUnderrun(at: instant(10))
    #expect(fill.underruns == 1 && fill.goal == 256)
    fill.noteUnderrun(at: instant(20))
    #expect(fill.underruns == 2 && fill.goal == 384)
  }

  @Test func goalStaysBelowTheBuffer() {
    var fill = PlaybackFill(period: 480, capacity: 960, rate: .voice)
    for step in 0..<20 { fill.noteUnderrun(at: instant(step)) }
    #expect(fill.goal <= 480)
  }

  @Test func deviceThatStandsStillForAWhileIsWaitedFor() {
    var fill = PlaybackFill(period: 120, capacity: 4_800, rate: .voice)
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
}
