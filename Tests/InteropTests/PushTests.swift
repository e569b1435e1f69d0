import Foundation
import LocalSocket
import ProgramRig
import Testing

private let activator = "/usr/bin/systemd-socket-activate"
private let canRun = ProgramUnderTest.canRun(
  missing: FileManager.default.isExecutableFile(atPath: activator) ? nil : "systemd"
)

/// An app that is not running, and that systemd starts for a push.
@Suite(.waiting, .enabled(if: canRun))
struct PushTests {
  @Test func pushStartsTheAppAndReachesIt() throws {
    let folder = try Bench.folder()
    let push = folder.appendingPathComponent("push")
    try FileManager.default.createDirectory(at: push, withIntermediateDirectories: true)
    // As an earlier run of the app left it.
    let token = String(repeating: "2a", count: 32)
    let file = push.appendingPathComponent("push-app.voip.token")
    try Data(repeating: 0x2a, count: 32).write(to: file)
    let socket = push.appendingPathComponent("push-app.voip.sock").path
    let app = try ProgramRun(
      activator,
      [
        "--listen=\(socket)", "--setenv=XDG_RUNTIME_DIR=\(folder.path)",
        "--setenv=XDG_STATE_HOME=\(folder.path)", try Bench.sibling("push-app"),
      ]
    )
    #expect(app.wait(for: "Listening on"), "\(app.output)")
    let line = #"{"token":"\#(token)","payload":{"handle":"sip:alice@example.org"}}"#
    let answer = LineClient.ask(line, at: socket, seconds: 20)
    #expect(answer == #"{"status":200}"#, "\(app.output)")
    #expect(app.waitForExit() == 0, "\(app.output)")
    let said = app.output.split(separator: "\n")
      .filter { $0.hasPrefix("token") || $0.hasPrefix("push") }
    #expect(said == ["token of 32 bytes", "push from sip:alice@example.org"], "\(app.output)")
  }
}
