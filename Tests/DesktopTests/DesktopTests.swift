import ALSAAudio
import Foundation
import ProgramRig
import Testing

private let canRun = ProgramUnderTest.canRun(
  missing: PipeWireServer.missing
)

/// Calls through PipeWire, by ALSA's default.
@Suite(.serialized, .enabled(if: canRun))
struct DesktopTests {
  /// A call whose far side's sound server is disturbed after eight seconds.
  private func call(
    seconds: Int,
    quantum: Int = 256,
    disturbing disturb: (PipeWireServer, PlayedSound) throws -> Void
  ) throws -> EchoCall.Outcome {
    let work = try WorkFolder()
    defer { work.remove() }
    let server = try PipeWireServer(in: work.url, quantum: quantum)
    defer { server.stop() }
    let call = try EchoCall(over: "default", environment: server.environment, in: work.url)
    let outcome = try call.run(seconds: seconds, quietFor: 8) { try disturb(server, $0) }
    print("down for \(outcome.downtime.rounded()) ms, silent for \(outcome.silence.rounded())")
    return outcome
  }

  /// Expects more than a share of the probes, four a second, back from `begin` on, and some after
  /// `end`.
  private func expectEchoes(
    of outcome: EchoCall.Outcome,
    from begin: Double,
    until end: Double,
    share: Double
  ) throws {
    let last = try #require(outcome.echoes.last, "\(outcome.farOutput)")
    let all = (last.second - begin) * 4 + 1
    let count = outcome.echoes.count { $0.second >= begin }
    print("\(count) of \(all) probes came back")
    #expect(Double(count) > share * all && last.second > end, "\(outcome.echoes)")
    #expect(outcome.isEndedWell)
  }

  /// In a virtual machine a cycle has 1,024 frames, and with Bluetooth as many or more.
  @Test(arguments: [64, 256, 1_024, 2_048])
  func theSoundIsWholeWhateverTheCycle(frames: Int) throws {
    let outcome = try call(seconds: 11, quantum: frames) { _, _ in }
    try expectEchoes(of: outcome, from: 3, until: 8, share: 0.8)
  }

  /// As when a headset changes its Bluetooth profile.
  @Test func theSoundIsWholeAfterAChangeOfTheCycle() throws {
    let outcome = try call(seconds: 26) { server, heard in
      try server.force(quantum: 2_048)
      #expect(heard.goesOn(seconds: 10))
      try server.force(quantum: 128)
      #expect(heard.goesOn(seconds: 4))
    }
    try expectEchoes(of: outcome, from: 3, until: 20, share: 0.9)
  }

  /// As a JACK client does, or a headset by Bluetooth.
  @Test func theSoundIsWholeBesideAProgramThatForcesItsCycle() throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let silence = work.url.appendingPathComponent("silence.wav")
    let samples = [Float](repeating: 0, count: 48_000 * 60)
    let wave =
      WaveFile.header(rateHertz: 48_000, sampleCount: samples.count) + WaveFile.encode(samples)
    try Data(wave).write(to: silence)
    let outcome = try call(seconds: 24, quantum: 0) { server, heard in
      let other = try server.play(silence, forcing: 2_048)
      defer { other.stop() }
      #expect(heard.goesOn(seconds: 14))
    }
    try expectEchoes(of: outcome, from: 14, until: 18, share: 0.8)
  }

  @Test func callOutlivesARestartOfTheSoundServer() throws {
    let outcome = try call(seconds: 26) { server, heard in
      // The far side's microphone and loudspeaker.
      #expect(try server.streams(withRole: "phone") == 2, "the server knows what they are for")
      server.crash()
      #expect(heard.goesOn(seconds: 1))
      try server.start()
    }
    let delays = outcome.echoes.map(\.delay)
    let before = Percentiles(Array(delays.prefix(12))).median
    let after = Percentiles(Array(delays.suffix(12))).median
    print("there and back \(before) ms, then \(after)")
    #expect(outcome.processorShare < 0.3, "a thread that waits for the server sleeps")
    let events = ["mediaServicesLost", "mediaServicesReset"]
    #expect(events.allSatisfy(outcome.farOutput.contains), "services were lost and reset")
    #expect(outcome.isEndedWell)
    let last = try #require(outcome.echoes.last)
    #expect(last.second > 20, "the voice came back, and stayed")
    // The restart itself took more than a second, none of which may stay.
    #expect(abs(after - before) < 500)
  }

  @Test func callOutlivesASoundServerThatHangs() throws {
    let outcome = try call(seconds: 26) { server, heard in
      server.freeze()
      #expect(heard.goesOn(seconds: 8))
      server.thaw()
    }
    #expect(outcome.silence > 4_000, "the server hung")
    #expect(outcome.isEndedWell)
    let last = try #require(outcome.echoes.last, "\(outcome.farOutput)")
    #expect(last.second > 22, "the voice came back, and stayed: \(outcome.farOutput)")
  }
}
