import Localization
import MediaCore
import Testing

@testable import CommandLine

struct CheckRulesTests {
  private static func verdicts(_ findings: [CheckFinding]) -> [CheckFinding.Verdict] {
    findings.map(\.verdict)
  }

  private static var timing: DeviceTiming {
    var timing = DeviceTiming()
    timing.capturePeriodMilliseconds = 2.5
    timing.playbackPeriodMilliseconds = 2.5
    timing.captureDrift = 30
    timing.playbackDrift = -40
    timing.peak = 0.1
    return timing
  }

  @Test func soundHeadsetIsGood() {
    let findings = CheckRules.timing(Self.timing, seconds: 5)
    #expect(findings.allSatisfy { $0.verdict == .good && $0.advice == nil })
    let subjects = findings.map(\.subject.english)
    #expect(subjects == ["periods", "clock drift", "continuity", "microphone"])
  }

  /// ALSA's null takes and gives as much as is asked for.
  @Test func deviceWithoutAClockIsAFault() throws {
    var timing = Self.timing
    timing.captureDrift = 132_820_383
    let finding = try #require(
      CheckRules.timing(timing, seconds: 5).first { $0.subject.english == "clock drift" }
    )
    #expect(finding.verdict == .fault)
    #expect(finding.advice?.english.contains("keeps no time") == true)
  }

  @Test func eachWeaknessOfAHeadsetIsNamed() {
    func verdicts(_ change: (inout DeviceTiming) -> Void) -> [CheckFinding.Verdict] {
      var timing = Self.timing
      change(&timing)
      return Self.verdicts(CheckRules.timing(timing, seconds: 5))
    }
    #expect(verdicts { $0.playbackPeriodMilliseconds = 21.3 } == [.advice, .good, .good, .good])
    #expect(verdicts { $0.captureDrift = 5_000 } == [.good, .advice, .good, .good])
    #expect(verdicts { $0.captureDrift = nil } == [.good, .advice, .good, .good])
    #expect(verdicts { $0.lostFrames = 3 } == [.good, .good, .advice, .good])
    #expect(verdicts { $0.peak = 0 } == [.good, .good, .good, .advice])
    #expect(verdicts { $0.isGone = true } == [.fault])
  }

  @Test func missingDevicesAreFaults() {
    let findings = CheckRules.devices(microphone: nil, loudspeaker: nil)
    #expect(Self.verdicts(findings) == [.fault, .fault])
    #expect(findings[0].advice?.english.contains("--capture null") == true)
  }

  @Test func deniedRightsAreAdvice() {
    var state = SystemState()
    state.lockableBytes = 65_536
    state.isClockSynchronized = false
    #expect(Self.verdicts(CheckRules.system(state)) == [.advice, .advice, .good, .advice])
    state.hasRealTimeKit = true
    state.lockableBytes = nil
    state.isClockSynchronized = true
    state.soundServers = ["PipeWire"]
    #expect(Self.verdicts(CheckRules.system(state)) == [.good, .good, .good, .good])
  }

  @Test func networkIsJudged() {
    let free = PortState(name: "5060/udp", reason: nil)
    let taken = PortState(name: "5060/tcp", reason: "Address already in use")
    #expect(Self.verdicts(CheckRules.ports([free], firewall: nil)) == [.good, .good])
    #expect(Self.verdicts(CheckRules.ports([free, taken], firewall: "ufw")) == [.advice, .advice])
    #expect(CheckRules.names(nil).verdict == .advice)
    #expect(CheckRules.names(12).figures == ["answerMs": 12])
  }

  @Test func testCallNamesItsStages() {
    let stages = [(name: "frame", milliseconds: 10.0), (name: "nothing", milliseconds: 0)]
    let finding = CheckRules.loopback(19.8, stages: stages)
    #expect(finding.text.english == "19.8 ms from mouth to ear (frame 10.0)")
    #expect(CheckRules.loopback(nil, stages: []).verdict == .fault)
  }

  @Test func wayIsJudged() {
    var path = PathTiming()
    #expect(Self.verdicts(CheckRules.path(path)) == [.fault], "by TLS alone, and not there")
    path.asked = 20
    #expect(Self.verdicts(CheckRules.path(path)) == [.fault])
    path.late = 3
    #expect(CheckRules.path(path)[0].verdict == .advice, "slow is not absent")
    path.late = 0
    path.roundTrips = [10, 12, 10, 12] + [Double](repeating: 11, count: 15)
    path.largestPacket = 1_500
    path.takesTLS = true
    let findings = CheckRules.path(path)
    #expect(Self.verdicts(findings) == [.good, .good, .good, .good])
    #expect(findings[0].figures["roundTripMs"] == 11)
    #expect(abs((findings[0].figures["lostPercent"] ?? 0) - 5) < 1e-9)
    #expect(abs((findings[0].figures["jitterMs"] ?? 0) - 7.0 / 18) < 1e-9)
    path.roundTrips.removeLast(10)
    path.largestPacket = 576
    path.takesTLS = false
    path.isTranslated = true
    #expect(Self.verdicts(CheckRules.path(path)) == [.advice, .advice, .advice, .advice])
  }

  @Test func aFindingIsALineForPeopleAndOneForPrograms() {
    let finding = CheckFinding.advice(
      subject: "time",
      saying: "it is\u{1B}[2J late",
      advising: "set it",
      ["lateMs": 3]
    )
    #expect(finding.line == "note   time             it is [2J late\n       -> set it")
    #expect(
      finding.json
        == #"{"advice":"set it","figures":{"lateMs":3},"subject":"time","#
        + #""text":"it is\u001b[2J late","verdict":"advice"}"#
    )
  }

  /// Looks come late by up to a millisecond, some at once: the crystal is found all the same.
  @Test(arguments: [-300.0, 0, 45]) func clockComparisonFindsTheCrystal(drift: Double) throws {
    var comparison = ClockComparison(rate: .voice)
    var random = SeededGenerator(seed: 7)
    for look in 0..<10_000 {
      let passed = Double(look) * 500_000
      let frames = Int64(passed / 1e9 * 48_000 * (1 + drift / 1e6))
      let lateness = random.unit() < 0.1 ? 0 : random.unit() * 1e6
      comparison.note(frames, at: Int64(passed + lateness))
    }
    let found = try #require(comparison.partsPerMillion)
    #expect(abs(found - drift) < 10)
  }

  @Test func shortComparisonSaysNothing() {
    var comparison = ClockComparison(rate: .voice)
    for look in 0..<100 { comparison.note(Int64(look) * 24, at: Int64(look) * 500_000) }
    #expect(comparison.partsPerMillion == nil)
  }
}
