import Foundation
import ProgramRig
import Testing

/// The documentation's example, run as its reader would run it.
@Suite(.waiting, .serialized)
struct MonkeyCallTests {
  @Test func twoMonkeysTalkAndHold() throws {
    let folder = try Bench.folder()
    let home = ["XDG_DATA_HOME": folder.path]
    let program = try Bench.sibling("MonkeyCall")
    let port = Bench.port()
    func party(_ name: String, hertz: Double, _ arguments: [String]) throws -> ProgramRun {
      let said = folder.appendingPathComponent("\(name).wav")
      try Tones.write(hertz: hertz, seconds: 30, to: said)
      let heard = folder.appendingPathComponent("\(name)-heard.wav").path
      return try ProgramRun(
        program,
        arguments + ["--capture", "file:\(said.path)", "--playback", "file:\(heard)"],
        environment: home
      )
    }
    let sound = try PlayedSound(in: folder.appendingPathComponent("bob-heard.wav"))
    let bob = try party("bob", hertz: 800, ["--port", "\(port)", "--answer"])
    #expect(bob.wait(for: "MonkeyCall is at"))
    let alice = try party("alice", hertz: 500, ["monkeycall://bob@127.0.0.1:\(port)"])
    #expect(alice.wait(for: ": connected") && bob.wait(for: ": connected"))
    // Bob's devices are open all the time.
    #expect(sound.goesOn(seconds: 2))
    alice.press("o\n")
    #expect(alice.wait(for: ": held"))
    #expect(sound.goesOn(seconds: 2))
    alice.press("o\n")
    #expect(alice.wait(for: ": connected", times: 2))
    #expect(sound.goesOn(seconds: 2))
    alice.press("h\n")
    #expect(alice.waitForExit() == 0 && bob.waitForExit() == 0)

    let heard = try Tones.presence(
      of: 500,
      in: folder.appendingPathComponent("bob-heard.wav")
    )
    let first = try #require(heard.firstIndex(of: true))
    let last = try #require(heard.lastIndex(of: true))
    let gap = heard[first...last].split(separator: true).map(\.count).max() ?? 0
    let picture = heard.map { $0 ? "#" : "." }.joined()
    #expect(gap >= 15, "\(gap) tenths of silence: \(picture)")
    // Her recording went on when she took her devices again.
    #expect(
      try Tones.presence(of: 800, in: folder.appendingPathComponent("alice-heard.wav"))
        .count { $0 } >= 30
    )
  }

  /// The walk of the example's README: two callers, of whom one is held, muted and ended.
  @Test func aSecondCallerHoldsTheFirst() throws {
    let home = ["XDG_DATA_HOME": try Bench.folder().path]
    let program = try Bench.sibling("MonkeyCall")
    let port = Bench.port()
    let devices = ["--capture", "null", "--playback", "null"]
    func party(_ arguments: [String]) throws -> ProgramRun {
      try ProgramRun(program, arguments + devices, environment: home)
    }
    let bob = try party(["--port", "\(port)"])
    #expect(bob.wait(for: "MonkeyCall is at"))
    let alice = try party(["bob@127.0.0.1:\(port)"])
    #expect(bob.wait(for: "connecting"))
    bob.press("a\n")
    #expect(alice.wait(for: ": connected") && bob.wait(for: ": connected"))
    bob.press("m\n")
    #expect(bob.wait(for: "connected, muted"))

    let carol = try party(["bob@127.0.0.1:\(port)"])
    #expect(bob.wait(for: "connecting", times: 2))
    bob.press("a\n")
    #expect(bob.wait(for: ": held, muted") && carol.wait(for: ": connected"))
    // The newest call ends; the system resumes the other one.
    bob.press("h\n")
    #expect(carol.waitForExit() == 0)
    alice.press("h\n")
    #expect(alice.waitForExit() == 0 && bob.waitForExit() == 0)
    #expect(bob.printed("No calls."))
  }
}
