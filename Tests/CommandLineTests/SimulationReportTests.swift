import Foundation
import Testing

@testable import CommandLine
@testable import Simulation
@testable import VoiceEngine
@testable import VoiceStream

struct SimulationReportTests {
  private func observation(
    _ second: Double,
    delay: Double?,
    target: Double = 4,
    _ change: (inout StreamStatistics) -> Void = { _ in }
  ) -> SimulatedCall.Observation {
    var stream = StreamStatistics()
    change(&stream)
    return .init(
      second: second,
      delay: delay,
      target: target,
      stream: stream,
      far: nil,
      engine: EngineStatistics()
    )
  }

  private func report(_ observations: SimulatedCall.Observation...) -> SimulationReport {
    var report = SimulationReport(network: "wifi", seed: 7)
    for observation in observations { report.add(observation) }
    return report
  }

  private func fields(_ report: SimulationReport) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(report.json.utf8))
    return try #require(object as? [String: Any])
  }

  @Test func theFirstSecondIsNotCounted() throws {
    let report = report(
      observation(0.5, delay: 500),
      observation(1.5, delay: 10),
      observation(2, delay: 12),
      observation(2.5, delay: 20)
    )
    #expect(report.medianDelay == 12)
    let fields = try fields(report)
    #expect(abs(try #require(fields["meanMs"] as? Double) - 14) < 0.01)
    #expect(fields["percentile95Ms"] as? Double == 20)
    #expect(fields["targetMs"] as? Double == 4)
    #expect(fields["network"] as? String == "wifi" && fields["seed"] as? Int == 7)
  }

  /// A headset that was unplugged conceals nothing, and plays nothing either.
  @Test func aLoudspeakerThatStoodStillIsTold() throws {
    var last = observation(5, delay: 10)
    last.engine.playedFrames = 5 * 48_000
    var report = report(last)
    report.seconds = 20
    #expect(try fields(report)["silentMs"] as? Double == 15_000)
    #expect(report.text.contains("20 s:") && report.text.contains("stood still"))
    report.seconds = 5.2
    #expect(try fields(report)["silentMs"] == nil)
    last.engine.silentFrames = 2 * 48_000
    var stopped = self.report(last)
    stopped.seconds = 5
    #expect(try fields(stopped)["silentMs"] as? Double == 2_000)
  }

  @Test func sharesAreThoseOfWhatWasPlayed() throws {
    var report = report(
      observation(10, delay: 10) {
        $0.decodedFrames = 800
        $0.concealedFrames = 150
        $0.recoveredFrames = 50
        $0.removedFrames = 10
        $0.addedFrames = 20
        $0.packetsLate = 3
      }
    )
    report.traffic = (sent: 200, lost: 5)
    let fields = try fields(report)
    #expect(fields["concealedPercent"] as? Double == 15)
    #expect(fields["recoveredPercent"] as? Double == 5)
    #expect(fields["removedPercent"] as? Double == 1 && fields["addedPercent"] as? Double == 2)
    #expect(fields["concealedMs"] as? Double == 3.125 && fields["latePackets"] as? Double == 3)
    #expect(fields["lostPercent"] as? Double == 2.5)
  }

  /// A call in which nothing is heard has no delay; JSON has no number for that.
  @Test func nothingObservedIsNoNumber() throws {
    let silent = report(observation(2, delay: nil))
    let fields = try fields(silent)
    #expect(fields["meanMs"] == nil && fields["percentile95Ms"] == nil)
    #expect(fields["targetMs"] as? Double == 4 && silent.medianDelay.isNaN)
    #expect(try self.fields(report())["concealedPercent"] as? Double == 0)
    #expect(report().svg.hasPrefix("<svg"))
  }

  @Test func theTextHasALineForEachFigureWithItsUnit() {
    let lines = report(observation(61.4, delay: 10)).text.split(separator: "\n")
    #expect(lines.first == "wifi, seed 7, 61 s:")
    #expect(lines.count == 14)
    #expect(lines.contains { $0.contains("mouth to ear, mean") && $0.hasSuffix("10.00 ms") })
    #expect(lines.contains { $0.contains("lost by the network") && $0.hasSuffix("0.00 %") })
    #expect(lines.contains { $0.contains("packets too late") && $0.hasSuffix(" 0") })
  }

  @Test func aLongCallIsDrawnInFewPoints() {
    var report = SimulationReport(network: "lan", seed: 1)
    for index in 0..<30_000 {
      report.add(observation(Double(index) / 10, delay: Double(index % 20)))
    }
    // All of it counts, and some of it is drawn.
    #expect(report.medianDelay == 10)
    #expect(report.svg.utf8.count < 1_500_000)
  }
}
