import MediaCore
import Testing

@testable import Playout

/// The table of `PlayoutPhase`, and a jitter buffer's transitions in it.
struct PlayoutPhaseTests {
  private static func buffer() -> JitterBuffer { JitterBuffer() }

  /// Inserts a packet of 20 ms at a time that the test chooses.
  private static func insert(
    _ sequence: Int64,
    at milliseconds: Int64,
    isSilence: Bool = false,
    into buffer: inout JitterBuffer
  ) {
    _ = buffer.insert(
      sequence: sequence,
      mediaFrame: sequence * 960,
      frames: 960,
      isSilence: isSilence,
      at: MonotonicInstant(nanoseconds: milliseconds * 1_000_000),
      wait: 0
    )
  }

  private static func next(_ buffer: inout JitterBuffer, at milliseconds: Int64)
    -> JitterBuffer.Step
  {
    buffer.next(at: MonotonicInstant(nanoseconds: milliseconds * 1_000_000), queuedFrames: 0)
  }

  @Test(arguments: [
    (PlayoutPhase.empty, PlayoutPhase.empty), (.playing, .waiting(.concealment)),
    (.silent, .waiting(.comfortNoise)), (.waiting(.comfortNoise), .waiting(.comfortNoise)),
    (.waiting(.concealment), .waiting(.concealment)),
  ])
  func waitingKeepsWhatFillsTheTime(before: PlayoutPhase, after: PlayoutPhase) {
    var phase = before
    phase.wait()
    #expect(phase == after && phase.isWaiting && phase.isSilent == before.isSilent)
  }

  @Test func nothingIsPlayedBeforeTheFirstPacket() {
    var buffer = Self.buffer()
    let step = Self.next(&buffer, at: 0)
    #expect(step == .silence(frames: 480) && buffer.phase == .empty)
  }

  @Test func speechIsPlayedAndConcealedUntilItHasFaded() {
    var buffer = Self.buffer()
    Self.insert(1, at: 0, into: &buffer)
    var now: Int64 = 0
    while buffer.phase == .empty {
      _ = Self.next(&buffer, at: now)
      now += 10
    }
    #expect(buffer.phase == .playing)
    // Half a second later concealment has faded, and the delay may change freely.
    for _ in 0..<50 {
      #expect(buffer.phase == .playing)
      _ = Self.next(&buffer, at: now)
      now += 10
    }
    _ = Self.next(&buffer, at: now)
    #expect(buffer.phase == .waiting(.concealment))
  }

  @Test func aSenderThatFallsSilentGetsComfortNoise() {
    var buffer = Self.buffer()
    Self.insert(1, at: 0, isSilence: true, into: &buffer)
    var now: Int64 = 0
    while buffer.phase == .empty {
      _ = Self.next(&buffer, at: now)
      now += 10
    }
    #expect(buffer.phase == .silent)
    let step = Self.next(&buffer, at: now)
    #expect(step == .comfort(frames: 480) && buffer.phase == .waiting(.comfortNoise))
    // Another source begins where the former left off: in silence.
    buffer.restart()
    #expect(buffer.phase == .waiting(.comfortNoise))
  }
}
