import Testing

@testable import CommandLine
@testable import VoiceEngine
@testable import VoiceStream

/// Delay of probes between two recordings.
struct LoopbackReportTests {
  /// Eight seconds of probes that are played 20 ms after they were said, without those of `lost`.
  private func report(losing lost: Set<Int>) -> LoopbackReport? {
    var measurement = LoopbackMeasurement()
    measurement.captured = ProbeSignal.samples(seconds: 8)
    measurement.played = [Float](repeating: 0, count: 960) + measurement.captured
    for second in lost {
      for frame in second * 48_000..<(second + 1) * 48_000 { measurement.played[frame] = 0 }
    }
    var device = EngineStatistics()
    (device.captureOrigin, device.playbackOrigin) = (5, 5)
    (measurement.device, measurement.stream) = (device, .init())
    return LoopbackReport(measurement)
  }

  @Test func probesThatAreNotHeardAreCounted() throws {
    let whole = try #require(report(losing: []))
    #expect(abs(whole.median - 20) < 0.05 && whole.missed == 0)
    #expect(!whole.text.contains("lost"))
    let broken = try #require(report(losing: [3, 5]))
    #expect(abs(broken.median - 20) < 0.05 && broken.missed == 2)
    #expect(broken.text.contains("2 more were not heard"))
    #expect(broken.json.contains("missedProbes\":2"))
  }
}
