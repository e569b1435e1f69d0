import Foundation
import ProgramRig
import Testing

private let canRun = ProgramUnderTest.canRun(
  "calls through a desktop's sound server",
  missing: PipeWireServer.missing
)

/// Calls through PipeWire, by ALSA's default.
@Suite(.serialized, .enabled(if: canRun))
struct DesktopTests {
  /// A call whose far side's sound server is disturbed after eight seconds.
  private func call(
    seconds: Int,
    disturbing disturb: (PipeWireServer, RunningProgram) throws -> Void
  ) throws -> EchoCall.Outcome {
    let work = try WorkFolder()
    defer { work.remove() }
    let server = try PipeWireServer(in: work.url)
    defer { server.stop() }
    let program = try #require(ProgramUnderTest.url, "build the program first: swift build")
    let call = EchoCall(program.path, over: server, in: work.url)
    let outcome = try call.run(seconds: seconds, quietFor: 8) { try disturb(server, $0) }
    print("down for \(outcome.downtime.rounded()) ms, silent for \(outcome.silence.rounded())")
    return outcome
  }

  @Test func callOutlivesARestartOfTheSoundServer() throws {
    let outcome = try call(seconds: 24) { server, near in
      server.crash()
      near.letRun(seconds: 1)
      try server.start()
    }
    let delays = outcome.echoes.map(\.delay)
    let before = Percentiles(Array(delays.prefix(12))).median
    let after = Percentiles(Array(delays.suffix(12))).median
    print("there and back \(before) ms, then \(after)")
    #expect(outcome.isKnownAsCall, "the server gives a call's streams their role")
    #expect(outcome.processorShare < 0.3, "a thread that waits for the server sleeps")
    let events = ["mediaServicesLost", "mediaServicesReset"]
    #expect(events.allSatisfy(outcome.farOutput.contains), "services were lost and reset")
    #expect(outcome.isEndedWell)
    let last = try #require(outcome.echoes.last)
    #expect(last.second > 20, "the voice came back, and stayed")
    #expect(abs(after - before) < 100, "the restart itself took more than a second")
  }

  @Test func callOutlivesASoundServerThatHangs() throws {
    let outcome = try call(seconds: 26) { server, near in
      server.freeze()
      near.letRun(seconds: 8)
      server.thaw()
    }
    #expect(outcome.silence > 4_000, "the server hung")
    #expect(outcome.isEndedWell)
    let last = try #require(outcome.echoes.last, "\(outcome.farOutput)")
    #expect(last.second > 22, "the voice came back, and stayed: \(outcome.farOutput)")
  }
}
