import Testing

@testable import VoiceStream

struct LatePacketTests {
  private static func heard(late milliseconds: Double) throws -> [Float] {
    var scene = try PacketScene()
    var packets = try PacketScene.voice(seconds: 3, frames: 960)
    packets[100].at += milliseconds
    scene.play(packets, until: 3_000)
    return scene.heard
  }

  private static func power(_ samples: some Sequence<Float>) -> Float {
    samples.reduce(0) { $0 + $1 * $1 }
  }

  @Test func latePacketSoundsAsIfItHadBeenInTimeOnceItIsThere() throws {
    let inTime = try Self.heard(late: 0)
    let late = try Self.heard(late: 4)
    let first = try #require(inTime.indices.first { abs(inTime[$0] - late[$0]) > 1e-3 })
    // One pull of 5 ms passes, then what was invented goes over into the packet within 2.5 ms.
    let rest = first + 480..<first + 960
    let error = Self.power(rest.map { inTime[$0] - late[$0] })
    #expect(error < 0.01 * Self.power(inTime[rest]))
  }
}
