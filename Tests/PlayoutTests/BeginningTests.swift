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

  @Test func whatComesWhileADeviceFailsTeachesNothing() {
    func target(isInterrupted: Bool) -> Int64 {
      var stream = VirtualStream()
      // Packet 500 comes 15 ms late, and what is said meanwhile with it.
      stream.send(0..<800) { index in 5 + max(0, 15 - Double(abs(index - 500)) * 15) }
      stream.run(milliseconds: 4_990)
      if isInterrupted { stream.buffer.noteInterruption() }
      stream.stand(milliseconds: 40)
      stream.run(milliseconds: 2_500)
      return stream.buffer.targetNanoseconds
    }
    #expect(target(isInterrupted: false) > 12_000_000)
    #expect(target(isInterrupted: true) < 5_000_000)
  }
}
