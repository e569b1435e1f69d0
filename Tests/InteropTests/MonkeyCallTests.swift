import BusFixture
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

  /// The desktop's call screen shows the app's name and icon without any work of the app.
  @Test(.timeLimit(.minutes(10))) func theDesktopShowsAndAnswersACall() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(NotificationServer(address: daemon.address))
    var log = server.log.makeAsyncIterator()
    let program = try Bench.sibling("MonkeyCall")
    let port = Bench.port()
    func party(_ arguments: [String], bus: String? = nil) throws -> ProgramRun {
      try ProgramRun(
        program,
        arguments + ["--capture", "null", "--playback", "null"],
        environment: ["XDG_DATA_HOME": try Bench.folder().path].merging(
          bus.map { ["DBUS_SESSION_BUS_ADDRESS": $0] } ?? [:]
        ) { $1 }
      )
    }
    let bob = try party(["--port", "\(port)"], bus: daemon.address)
    #expect(bob.wait(for: "MonkeyCall is at"))
    let alice = try party(["bob@127.0.0.1:\(port)"])
    let icon = try #require(await log.next())
    #expect(icon.hasPrefix("icon [137, 80, 78, 71, "))
    let call = try #require(await log.next())
    #expect(call.hasPrefix("show 1 Incoming call") && server.app == "MonkeyCall", "\(call)")
    server.press("answer", on: 1)
    #expect(alice.wait(for: ": connected") && bob.wait(for: ": connected"))
    #expect(!bob.printed("error"), "its ringtone is there")
    alice.press("h\n")
    #expect(alice.waitForExit() == 0 && bob.waitForExit() == 0)
  }

  @Test(.timeLimit(.minutes(10))) func missedCallIsCalledBackFromTheDesktop() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(NotificationServer(address: daemon.address))
    var log = server.log.makeAsyncIterator()
    let program = try Bench.sibling("MonkeyCall")
    let devices = ["--capture", "null", "--playback", "null"]
    let home = ["XDG_DATA_HOME": try Bench.folder().path]
    let bobs = Bench.port()
    // A caller is called back at SIP's own port; on each machine that runs tests, this address has
    // one program.
    let place = [
      "--host", "127.\(getpid() >> 16 & 255).\(getpid() >> 8 & 255).\(getpid() & 255 | 1)",
    ]
    func alice(_ arguments: [String]) throws -> ProgramRun {
      try ProgramRun(program, place + ["--port", "5060"] + arguments + devices, environment: home)
    }
    let bob = try ProgramRun(
      program,
      ["--port", "\(bobs)", "--stay"] + devices,
      environment: home.merging(["DBUS_SESSION_BUS_ADDRESS": daemon.address]) { $1 }
    )
    #expect(bob.wait(for: "MonkeyCall is at"))
    let caller = try alice(["bob@127.0.0.1:\(bobs)"])
    #expect(bob.wait(for: ": connecting"))
    caller.press("h\n")
    #expect(caller.waitForExit() == 0)
    let callee = try alice(["--answer"])
    #expect(callee.wait(for: "MonkeyCall is at"))
    var missed: String?
    while missed == nil, let line = await log.next() {
      if line.contains("Missed call") { missed = line }
    }
    let number = try #require(
      missed?.split(separator: " ").dropFirst().first.flatMap { UInt32($0) }
    )
    server.press("callBack", on: number)
    #expect(callee.wait(for: ": connected"))
    callee.press("h\n")
    #expect(callee.waitForExit() == 0)
  }
}
