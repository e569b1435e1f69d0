import Foundation
import MediaCore
import Testing

@testable import Playout

/// A packet that is late by next to nothing.
struct NearMissTests {
  @Test func whatIsNearlyEnoughLastsAtASlowerPace() throws {
    let tone = (0..<1_000).map { Float(0.5 * sin(2 * Double.pi * 300 * Double($0) / 48_000)) }
    var queue = OutputBuffer()
    queue.append(SampleBuffer(tone), count: 1_000)
    // Fractions of a frame are on the way.
    var output = SampleBuffer(repeating: 0, count: 960)
    _ = queue.read(addingTo: &output, in: 0..<882, ratio: 1.000_3)
    let queued = queue.count
    let ratios = [queued - 1, queued + 5, queued * 16 / 15 + 2].map { frames in
      queue.ratio(lastingFor: frames, insteadOf: 1.000_3)
    }
    #expect(ratios[0] == nil && ratios[2] == nil)
    let slower = try #require(ratios[1])
    output.fill(0, count: 960)
    let count = queue.read(addingTo: &output, in: 0..<queued + 5, ratio: slower)
    let rest = queue.count
    #expect(count == queued + 5 && rest <= 1)
    let played = (0..<queued + 5).map { output[$0] }
    // The tone goes on without a step: none steeper than its own.
    let steepest = zip(played, played.dropFirst()).map { abs($0 - $1) }.max() ?? 1
    #expect(steepest < 0.51 * 2 * .pi * 300 / 48_000)
  }

  @Test func bufferIsStarvedUntilSomethingComesOrIsInvented() {
    var buffer = JitterBuffer()
    func insert(_ index: Int64) {
      _ = buffer.insert(
        sequence: index,
        mediaFrame: index * 480,
        frames: 480,
        isSilence: false,
        at: MonotonicInstant(nanoseconds: index * 10_000_000),
        wait: 0
      )
    }
    // A buffer cannot be copied, as an expectation would.
    func isStarved() -> Bool { buffer.isStarved }
    func play(at milliseconds: Int64) -> JitterBuffer.Step {
      buffer.next(at: MonotonicInstant(nanoseconds: milliseconds * 1_000_000), queuedFrames: 0)
    }
    #expect(!isStarved())
    insert(1)
    var milliseconds: Int64 = 10
    while !play(at: milliseconds).isDecoding, milliseconds < 100 { milliseconds += 1 }
    #expect(isStarved())
    // A later one says that one is lost, which no waiting brings.
    insert(3)
    #expect(!isStarved())
    insert(2)
    #expect(!isStarved())
    #expect(play(at: milliseconds + 10).isDecoding && play(at: milliseconds + 20).isDecoding)
    #expect(isStarved())
    #expect(!play(at: milliseconds + 30).isDecoding)
    #expect(!isStarved())
  }
}

extension JitterBuffer.Step {
  fileprivate var isDecoding: Bool {
    switch self {
    case .decode, .decodeLate: true
    case .recover, .conceal, .comfort, .silence: false
    }
  }
}
