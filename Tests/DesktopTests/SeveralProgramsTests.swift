import Foundation
import ProgramRig
import Testing

/// Calls of several programs of one user at one headset.
@Suite(
  .serialized,
  .enabled(if: ProgramUnderTest.canRun(missing: PipeWireServer.missing))
)
struct SeveralProgramsTests {
  @Test func callIsHeldForAnotherProgramsCallAndResumedAfterIt() throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let server = try PipeWireServer(in: work.url)
    defer { server.stop() }
    let program = try #require(ProgramUnderTest.url, "build the program first: swift build").path
    func start(_ name: String, _ arguments: [String]) throws -> RunningProgram {
      try RunningProgram(
        Invocation(program, arguments + ["--json"]),
        environment: server.environment,
        log: work.url.appendingPathComponent("\(name).log")
      )
    }
    let port = Int.random(in: 2_000...3_000) * 10
    let far = try start(
      "far",
      ["listen", "--answer", "--echo", "--headset", "null", "--listen", "127.0.0.1:\(port)"]
    )
    defer { far.stop() }
    try #require(far.waits(for: "registered", seconds: Patience.limit), "\(far.output)")
    let call = ["call", "sip:echo@127.0.0.1:\(port)", "--headset", "default"]
    let first = try start("first", call + ["--listen", "127.0.0.1:0"])
    defer { first.stop() }
    try #require(first.waits(for: "audioActivated", seconds: Patience.limit), "\(first.output)")
    try #require(first.waits(for: "\"connected\"", seconds: Patience.limit), "\(first.output)")

    let second = try start("second", call + ["--listen", "127.0.0.1:0", "--duration", "3"])
    defer { second.stop() }
    #expect(second.waits(for: "audioActivated", seconds: Patience.limit), "\(second.output)")
    for event in ["\"held\"", "audioDeactivated"] {
      #expect(first.waits(for: event, seconds: Patience.limit), "\(first.output)")
    }
    #expect(second.waitForExit() == 0, "\(second.output)")
    let again = "\"resumed\"(.|\\n)*audioActivated"
    #expect(first.waits(for: again, seconds: Patience.limit), "\(first.output)")
  }
}
