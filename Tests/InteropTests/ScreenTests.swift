import Foundation
import ProgramRig
import Testing

/// The screen of a call on a real terminal of tmux's, whose contents can be read.
@Suite(.waiting)
struct ScreenTests {
  /// Opens a terminal with the program in it.
  private static func window(_ tmux: String, _ arguments: [String]) throws -> TerminalWindow {
    try window(tmux, running: [#require(Bench.program)] + arguments)
  }

  /// Opens a terminal with a shell in it, whose jobs can go to the background.
  private static func shell(_ tmux: String) throws -> TerminalWindow {
    try window(tmux, running: ["bash", "--norc", "-i"])
  }

  private static func window(_ tmux: String, running command: [String]) throws -> TerminalWindow {
    let socket = try Bench.folder().appendingPathComponent("tmux").path
    return try TerminalWindow(columns: 80, rows: 24, command) { command in
      let run = try ProgramRun(tmux, ["-S", socket] + command)
      #expect(run.waitForExit() == 0)
      return run.output
    }
  }

  @Test func aCallIsShownAndReported() throws {
    guard let tmux = Bench.find("tmux") else { return Bench.skip("tmux") }
    let port = Bench.port()
    let listener = try Bench.run(
      ["listen", "--answer", "--once", "--listen", "127.0.0.1:\(port)", "--headset", "null"]
    )
    #expect(listener.wait(for: "Listening"))
    let report = try Bench.folder().appendingPathComponent("report.html")
    let window = try Self.window(
      tmux,
      [
        "call", "sip:bob@127.0.0.1:\(port)", "--listen", "127.0.0.1:0",
        "--headset", "null", "--report", report.path,
      ]
    )
    #expect(window.shows("mouth to ear"), "\(window.text)")
    #expect(window.shows("compare the words"))
    // A chart takes two moments.
    #expect(window.shows("talking  0:03"))
    try window.press("m")
    #expect(window.shows("MUTED"))
    try window.resize(columns: 50, rows: 14)
    #expect(window.shows(String(repeating: "─", count: 50)))
    try window.press("o")
    #expect(window.shows("on hold"))
    try window.press("h")
    // The usual screen is back, with what happened.
    #expect(window.shows("Call ended: hung up."))
    #expect(window.shows("exit status 0"))
    #expect(!window.text.contains("mouth to ear"))
    #expect(listener.waitForExit() == 0)
    let page = try String(contentsOf: report, encoding: .utf8)
    #expect(page.contains("Delay by stage") && page.contains("On hold."))
  }

  @Test func screenReadersGetLinesThatDoNotChange() throws {
    guard let tmux = Bench.find("tmux") else { return Bench.skip("tmux") }
    let port = Bench.port()
    let listener = try Bench.run(
      ["listen", "--answer", "--once", "--listen", "127.0.0.1:\(port)", "--headset", "null"]
    )
    #expect(listener.wait(for: "Listening"))
    let window = try Self.window(
      tmux,
      [
        "call", "sip:bob@127.0.0.1:\(port)", "--listen", "127.0.0.1:0",
        "--headset", "null", "--screen-reader", "--duration", "3",
      ]
    )
    #expect(window.shows("Connected with"))
    #expect(window.shows("Call ended"))
    #expect(!window.text.contains("mouth to ear"))
    // The figures come once, when the call has ended.
    #expect(window.text.components(separatedBy: "jitter").count == 2, "\(window.text)")
    #expect(listener.waitForExit() == 0)
  }

  @Test func aQuestionForAPasswordThatIsEndedGivesTheTerminalBack() throws {
    guard let tmux = Bench.find("tmux") else { return Bench.skip("tmux") }
    let program = try #require(Bench.program)
    let window = try Self.window(
      tmux,
      running: ["timeout", "--foreground", "3", program, "account", "add", "alice@example.org"]
    )
    #expect(window.shows("Password of alice"), "\(window.text)")
    #expect(window.shows("exit status 124"), "\(window.text)")
    try window.press("visible")
    #expect(window.shows("visible"), "\(window.text)")
  }

  @Test func ctrlCEndsAQuestionForAPassword() throws {
    guard let tmux = Bench.find("tmux") else { return Bench.skip("tmux") }
    let program = try #require(Bench.program)
    let window = try Self.shell(tmux)
    try window.press("\(program) account add alice@example.org; echo ended by $?")
    try window.press("Enter")
    #expect(window.shows("Password of alice"), "\(window.text)")
    try window.press("C-c")
    #expect(window.shows("ended by 1"), "\(window.text)")
  }

  @Test func keysComeBackFromTheBackground() throws {
    guard let tmux = Bench.find("tmux") else { return Bench.skip("tmux") }
    let port = Bench.port()
    let listener = try Bench.run(
      ["listen", "--answer", "--once", "--listen", "127.0.0.1:\(port)", "--headset", "null"]
    )
    #expect(listener.wait(for: "Listening"))
    let program = try #require(Bench.program)
    let window = try Self.shell(tmux)
    func type(_ line: String) throws { for key in [line, "Enter"] { try window.press(key) } }
    let call = "call sip:bob@127.0.0.1:\(port) --listen 127.0.0.1:0 --headset null --plain"
    try type("\(program) \(call)")
    #expect(window.shows("Connected with"), "\(window.text)")
    try window.press("C-z")
    #expect(window.shows("Stopped"), "\(window.text)")
    try type("bg")
    try type("fg")
    try window.press("h")
    #expect(window.shows("Call ended: hung up"), "\(window.text)")
    #expect(listener.waitForExit() == 0)
  }
}
