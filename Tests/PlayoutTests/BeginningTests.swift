import MediaCore
import Testing

@testable import Playout

extension JitterBuffer.Step {
  /// True if the step plays received sound.
  fileprivate var isSound: Bool {
    switch self {
    case .decode, .decodeLate, .recover: true
    case .conceal, .comfort, .silence: false
    }
  }
}

/// The beginning of a stream, and its continuation after a device failure.
struct BeginningTests {
  @Test func firstSoundBeginsAtTheTarget() {
    // No callback asks for the first 33 ms: the device is still being opened.
    var stream = VirtualStream(packetFrames: 960)
    stream.send(0..<100)
    stream.stand(milliseconds: 33)
    stream.run(milliseconds: 500)
    #expect(abs(stream.buffer.delayNanoseconds - 6_000_000) < 1_000_000)
    guard case .decodeLate(_, 960, let skipping, _) = stream.steps.first(where: \.isSound) else {
      Issue.record("the first packet was not cut")
      return
    }
    #expect(skipping > 0 && skipping < 960)
  }

  /// Target delay, in nanoseconds, after a call in which packet `late` came 15 ms late.
  ///
  /// The loudspeaker stands still for `milliseconds` from packet 499 on; `late` comes then or soon
  /// after.
  private static func target(
    late: Int,
    standing milliseconds: Double = 40,
    isInterrupted: Bool,
    hasAnotherSource: Bool = false
  ) -> Int64 {
    var stream = VirtualStream()
    stream.send(0..<800) { index in index == late ? 20 : 5 }
    stream.run(milliseconds: 4_990)
    if isInterrupted { stream.buffer.noteInterruption() }
    if hasAnotherSource { stream.buffer.restart() }
    stream.stand(milliseconds: milliseconds)
    stream.run(milliseconds: 2_500)
    return stream.buffer.targetNanoseconds
  }

  // A card that was opened anew asks evenly only after a moment, which packets have to lie for.
  @Test(arguments: [500, 507]) func whatComesWhileADeviceFailsTeachesNothing(late: Int) {
    #expect(Self.target(late: late, isInterrupted: false) > 12_000_000)
    #expect(Self.target(late: late, isInterrupted: true) < 5_000_000)
  }

  @Test(arguments: [true, false])
  func anotherSourceWhileADeviceIsGoneTeachesNothing(isInterrupted: Bool) {
    let target = Self.target(
      late: 505,
      standing: 100,
      isInterrupted: isInterrupted,
      hasAnotherSource: true
    )
    #expect(isInterrupted ? target < 5_000_000 : target > 12_000_000)
  }

  @Test func whatComesLongAfterItTeachesAgain() {
    #expect(Self.target(late: 520, isInterrupted: true) > 12_000_000)
  }

  // Packet 500 leaves after 5,000 ms and comes at 5,020 ms.
  @Test(arguments: [5_021.0, 5_019.0])
  func whatASoundServerAsksForAtOnceTeachesNothing(untilMilliseconds end: Double) {
    var stream = VirtualStream()
    stream.send(0..<800) { index in index == 500 ? 20 : 5 }
    stream.run(milliseconds: 4_990)
    let instant = MonotonicInstant(nanoseconds: 1_000_000_000 + Int64(end * 1e6))
    stream.buffer.noteCatchingUp(until: instant)
    stream.run(milliseconds: 2_500)
    #expect((stream.buffer.targetNanoseconds > 12_000_000) == (end < 5_020))
  }
}
