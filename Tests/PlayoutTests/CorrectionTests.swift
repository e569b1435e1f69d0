import MediaCore
import Testing

@testable import Playout

struct CorrectionTests {
  private struct Unexpected: Error {
    let step: JitterBuffer.Step
  }

  /// Errors of the buffer's delay, in milliseconds, packet by packet from the second second on.
  ///
  /// Packets of 20 ms arrive on time, wait 2.3 ms each, and are played at the ratio that the buffer
  /// asks for, never cut.
  private static func mistakes(seconds: Int, isQuiet: Bool = false) throws -> [Double] {
    var buffer = JitterBuffer()
    var queued = 0.0
    var ratio = 1.0
    var mistakes: [Double] = []
    for pull in 0..<seconds * 400 {
      let now = MonotonicInstant(nanoseconds: Int64(pull) * 2_500_000)
      if pull % 8 == 0 {
        _ = buffer.insert(
          sequence: Int64(pull / 8 + 1),
          mediaFrame: Int64(pull / 8) * 960,
          frames: 960,
          isSilence: false,
          at: now.advanced(byNanoseconds: -2_300_000),
          wait: 2_300_000
        )
      }
      while queued < 120 * ratio {
        switch buffer.next(at: now, queuedFrames: Int(queued)) {
        case .decode(_, let frames, _): queued += Double(frames)
        // The first sound begins at the target.
        case .decodeLate(_, let frames, let skipping, _) where mistakes.isEmpty:
          queued += Double(frames - skipping)
        case .silence(let frames):
          queued += Double(frames)
          continue
        case let other: throw Unexpected(step: other)
        }
        ratio = buffer.correction(at: now, queuedFrames: Int(queued), isQuiet: isQuiet).ratio
        let next = Double(pull / 8 + 1) * 20
        let delay = Double(pull) * 2.5 + queued / 48 - next + 2.3
        if pull > 400 { mistakes.append(abs(Double(buffer.delayNanoseconds) / 1e6 - delay)) }
      }
      queued -= 120 * ratio
    }
    return mistakes
  }

  @Test(arguments: [false, true])
  func delayThatIsResampledAwayIsKnownAllTheTime(isQuiet: Bool) throws {
    let mistakes = try Self.mistakes(seconds: 12, isQuiet: isQuiet)
    #expect(mistakes.count > 500)
    #expect(mistakes.max() ?? 1 < 0.15)
  }
}
