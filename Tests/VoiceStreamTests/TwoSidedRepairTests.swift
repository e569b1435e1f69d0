import Foundation
import Testing

@testable import VoiceStream

struct TwoSidedRepairTests {
  // The network stands still for 120 ms now and then, so that the receiver holds packets back for
  // about that long.
  private static func heard(losing lost: Range<Int>) throws -> [Float] {
    var scene = try PacketScene()
    var packets = try PacketScene.voice(seconds: 3, frames: 960)
    for stall in stride(from: 0, to: 100, by: 10) {
      let end = packets[stall].at + 120
      for index in stall..<stall + 6 { packets[index].at = max(packets[index].at, end) }
    }
    packets.removeSubrange(lost)
    scene.play(packets, until: 3_200)
    return scene.heard
  }

  private static func power(_ samples: ArraySlice<Float>) -> Float {
    samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)
  }

  @Test(arguments: [1, 3, 5])
  func endOfALossIsAsLoudAsWhatFollows(count: Int) throws {
    let whole = try Self.heard(losing: 0..<0)
    let broken = try Self.heard(losing: 112..<112 + count)
    let first = try #require(whole.indices.first { abs(whole[$0] - broken[$0]) > 0.02 })
    let end = first + count * 960
    // The decoder alone has an eighth to a third of it there.
    #expect(Self.power(broken[end - 480..<end]) > 0.65 * Self.power(broken[end..<end + 240]))
    // And no step leads there.
    let steps = zip(broken[first..<end], broken[first + 1...end]).map { abs($0 - $1) }
    let natural = zip(whole[first..<end], whole[first + 1...end]).map { abs($0 - $1) }
    #expect(steps.max() ?? 1 < 1.5 * (natural.max() ?? 0))
  }
}
