import MediaCore
import Testing

@testable import Playout

extension JitterBuffer.Step {
  /// Whether something that was said is heard of it.
  fileprivate var isSound: Bool {
    switch self {
    case .decode, .decodeLate, .recover: true
    case .conceal, .comfort, .silence: false
    }
  }
}

/// A stream begins, or goes on after a device has failed.
struct BeginningTests {
  @Test func firstSoundBeginsAtTheTarget() {
    // No callback asks for the first 33 ms: the device is still being opened.
    var stream = VirtualStream(packetFrames: 960)
    stream.send(0..<100)
    stream.stand(milliseconds: 33)
    stream.run(milliseconds: 500)
    #expect(abs(stream.buffer.delayNanoseconds - 10_000_000) < 1_000_000)
    guard case .decodeLate(_, 960, let skipping, _) = stream.steps.first(where: \.isSound) else {
      Issue.record("the first packet was not cut")
      return
    }
    #expect(skipping > 0 && skipping < 960)
  }

  // A card that was opened anew asks evenly only after a moment, which packets have to lie for.
  @Test(arguments: [500, 507]) func whatComesWhileADeviceFailsTeachesNothing(late: Int) {
    func target(isInterrupted: Bool) -> Int64 {
      var stream = VirtualStream()
      // One packet comes 15 ms late, and what is said meanwhile with it.
      stream.send(0..<800) { index in 5 + max(0, 15 - Double(abs(index - late)) * 15) }
      stream.run(milliseconds: 4_990)
      if isInterrupted { stream.buffer.noteInterruption() }
      stream.stand(milliseconds: 40)
      stream.run(milliseconds: 2_500)
      return stream.buffer.targetNanoseconds
    }
    #expect(target(isInterrupted: false) > 12_000_000)
    #expect(target(isInterrupted: true) < 5_000_000)
  }

  @Test func anotherSourceWhileADeviceIsGoneTeachesNothing() {
    func target(isInterrupted: Bool) -> Int64 {
      var stream = VirtualStream()
      stream.send(0..<800) { index in 5 + max(0, 15 - Double(abs(index - 505)) * 15) }
      stream.run(milliseconds: 4_990)
      if isInterrupted { stream.buffer.noteInterruption() }
      stream.buffer.restart()
      stream.stand(milliseconds: 100)
      stream.run(milliseconds: 2_500)
      return stream.buffer.targetNanoseconds
    }
    #expect(target(isInterrupted: false) > 12_000_000)
    #expect(target(isInterrupted: true) < 5_000_000)
  }

  @Test func whatComesLongAfterItTeachesAgain() {
    var stream = VirtualStream()
    stream.send(0..<800) { index in index == 520 ? 20 : 5 }
    stream.run(milliseconds: 4_990)
    stream.buffer.noteInterruption()
    stream.stand(milliseconds: 40)
    stream.run(milliseconds: 2_500)
    #expect(stream.buffer.targetNanoseconds > 12_000_000)
  }
}
