import Foundation
import ProgramRig
import Testing

private let canRun = ProgramUnderTest.canRun(
  "calls through a desktop's sound server",
  missing: PipeWireServer.missing
)

/// A call through PipeWire, by ALSA's default, whose server crashes and comes back.
@Suite(.serialized, .enabled(if: canRun))
struct DesktopTests {
  @Test func callOutlivesARestartOfTheSoundServer() throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let server = try PipeWireServer(in: work.url)
    defer { server.stop() }
    let program = try #require(ProgramUnderTest.url, "build the program first: swift build")
    let call = EchoCall(program.path, over: server, in: work.url)
    let outcome = try call.run(seconds: 24, restartingAfter: 8)
    let delays = outcome.echoes.map(\.delay)
    let before = Percentiles(Array(delays.prefix(12))).median
    let after = Percentiles(Array(delays.suffix(12))).median
    print(
      "down for \(outcome.downtime.rounded()) ms, silent for \(outcome.silence.rounded()); "
        + "there and back \(before) ms, then \(after)"
    )
    #expect(outcome.isKnownAsCall, "the server gives a call's streams their role")
    #expect(outcome.processorShare < 0.3, "a thread that waits for the server sleeps")
    #expect(outcome.isAnnounced, "services were lost and reset")
    #expect(outcome.isEndedWell)
    let last = try #require(outcome.echoes.last)
    #expect(last.second > 20, "the voice came back, and stayed")
    #expect(abs(after - before) < 100, "the restart itself took more than a second")
  }
}
