import Foundation
import ProgramRig
import Testing

/// The Python that has the other phones' libraries: none, but for `make test-peers`.
private let python = ProcessInfo.processInfo.environment["PEERS_PYTHON"]

/// A phone of another make, by a script in `Tests/Peers`.
private struct Peer: CustomTestStringConvertible {
  let testDescription: String
  let script: String
  var arguments: [String] = []
  /// False where the library sends no digits, and tells of none that it receives.
  var hasDigits = true
  /// True where the library takes calls with ICE alone, which ours have by a server: its script is
  /// one.
  var isServer = false

  static let all = [
    Peer(testDescription: "PJSIP", script: "pjsua.py"),
    Peer(testDescription: "Sipral", script: "sipral_phone.py"),
    Peer(testDescription: "Janus", script: "janus_phone.py"),
    webRTC("aiortc", module: "aiortc"),
    webRTC("libwebrtc", module: "webrtc.aiortc"),
  ]

  private static func webRTC(_ name: String, module: String) -> Peer {
    Peer(
      testDescription: name,
      script: "webrtc_phone.py",
      arguments: [module],
      hasDigits: false,
      isServer: true
    )
  }
}

/// Calls with other phones, by scripts in `Tests/Peers`.
///
/// Each says back what it hears, so a party that hears its own tone has both directions. The
/// defaults of both sides apply.
@Suite(.waiting, .serialized, .enabled(if: python != nil))
struct PeerTests {
  /// Starts a peer's script, which prints a line for each event.
  private func start(_ peer: Peer, _ arguments: [String]) throws -> ProgramRun {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = tests.appendingPathComponent("Peers/\(peer.script)").path
    let run = try ProgramRun(#require(python), [file] + peer.arguments + arguments)
    #expect(run.wait(for: "ready"), "\(run.output)")
    return run
  }

  /// Expects voice, digits and holds of a call that stands, from both sides.
  private func expectEverything(of us: Party, with run: ProgramRun, _ peer: Peer) throws {
    #expect(us.event("connected") && run.wait(for: "connected"), "\(run.output)")
    #expect(try us.goesOnHearing(us, tenths: 15), "no voice: \(run.output)")
    if peer.hasDigits {
      us.run.press("59")
      #expect(run.wait(for: "digit 5") && run.wait(for: "digit 9"), "\(run.output)")
      run.press("digits 37\n")
      let pressed = ["3", "7"].allSatisfy { us.run.wait(for: "\"key\":\"\($0)\"") }
      #expect(pressed, "\(us.run.output)")
    }
    us.run.press("o")
    #expect(us.event("held") && run.wait(for: "media held"), "\(run.output)")
    us.run.press("o")
    #expect(us.event("resumed") && run.wait(for: "media active", times: 2), "\(run.output)")
    #expect(try us.goesOnHearing(us, tenths: 10), "no voice after our hold")

    run.press("hold\n")
    #expect(us.event("heldByFarSide"), "\(us.run.output)")
    run.press("resume\n")
    #expect(us.event("resumedByFarSide"), "\(us.run.output)")
    #expect(try us.goesOnHearing(us, tenths: 10), "no voice after their hold")
  }

  @Test(arguments: Peer.all) private func weCallAndHangUp(peer: Peer) throws {
    let port = Bench.port()
    let folder = try Bench.folder()
    let run = try start(peer, ["\(port)"])
    let place = "127.0.0.1:\(port)"
    let us =
      try peer.isServer
      ? Party(
        "us",
        hertz: 500,
        in: folder,
        ["call", "peer", "--account", "us@localhost", "--security", "required"],
        environment: SIPServer.account("us", in: folder, connection: "udp", at: place)
      )
      : Party("us", hertz: 500, in: folder, ["call", "sip:peer@\(place)"])
    try expectEverything(of: us, with: run, peer)
    us.run.press("h")
    #expect(us.run.waitForExit() == 0, "\(us.run.output)")
    #expect(run.wait(for: "ended 200"), "\(run.output)")
    run.signal(SIGKILL)
  }

  @Test(arguments: Peer.all) private func theyCallAndHangUp(peer: Peer) throws {
    let port = Bench.port()
    let us = try Party(
      "us",
      hertz: 500,
      in: Bench.folder(),
      ["listen", "--answer", "--once", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(us.event("registered"))
    let run = try start(peer, ["\(Bench.port())", "call", "sip:us@127.0.0.1:\(port)"])
    try expectEverything(of: us, with: run, peer)
    run.press("hangup\n")
    #expect(us.run.waitForExit() == 0, "\(us.run.output)")
    #expect(us.run.printed("\"cause\":\"hungUpByFarSide\""))
    run.signal(SIGKILL)
  }

  /// Two of ours with Sippy's back-to-back user agent between them, which makes two calls of one.
  @Test func callsGoThroughABackToBackUserAgent() throws {
    let (port, middle) = (Bench.port(), Bench.port())
    let folder = try Bench.folder()
    let callee = try Party(
      "callee",
      hertz: 500,
      in: folder,
      ["listen", "--answer", "--once", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(callee.event("registered"))
    let agent = try ProgramRun(
      URL(fileURLWithPath: #require(python)).deletingLastPathComponent()
        .appendingPathComponent("b2bua_simple").path,
      ["-f", "-l", "127.0.0.1", "-p", "\(middle)", "-n", "127.0.0.1:\(port)", "-L", "/dev/null"]
    )
    #expect(LoopbackSocket.isTaken(middle), "\(agent.output)")
    let caller = try Party("caller", hertz: 700, in: folder, ["call", "sip:x@127.0.0.1:\(middle)"])
    #expect(caller.event("secured") && callee.event("connected"), "\(caller.run.output)")
    #expect(try caller.goesOnHearing(callee, tenths: 10) && callee.goesOnHearing(caller, tenths: 5))
    caller.run.press("59")
    #expect(callee.run.wait(for: "\"key\":\"9\""), "\(callee.run.output)")
    callee.run.press("o")
    #expect(caller.event("heldByFarSide"))
    callee.run.press("o")
    #expect(caller.event("resumedByFarSide"))
    #expect(try caller.goesOnHearing(callee, tenths: 10), "no voice after the hold")
    caller.run.press("h")
    #expect(callee.run.waitForExit() == 0 && caller.run.waitForExit() == 0)
    agent.signal(SIGKILL)
  }
}
