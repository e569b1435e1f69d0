import Foundation
import ProgramRig
import Testing

/// The Python that has the other phones' libraries: none, but for `make test-peers`.
private let python = ProcessInfo.processInfo.environment["PEERS_PYTHON"]

/// Calls with phones that no Debian package has, by scripts in `Tests/Peers`.
///
/// Each says back what it hears, so a party that hears its own tone has both directions. The
/// defaults of both sides apply.
@Suite(.waiting, .serialized, .enabled(if: python != nil))
struct PeerTests {
  /// Starts a peer's script, which prints a line for each event.
  private func start(_ script: String, _ arguments: [String]) throws -> ProgramRun {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = tests.appendingPathComponent("Peers/\(script)").path
    let run = try ProgramRun(#require(python), [file] + arguments)
    #expect(run.wait(for: "ready"), "\(run.output)")
    return run
  }

  /// Expects voice, digits and holds of a call that stands, from both sides.
  private func expectEverything(of us: Party, with peer: ProgramRun) throws {
    #expect(us.event("connected") && peer.wait(for: "connected"), "\(peer.output)")
    #expect(try us.goesOnHearing(us, tenths: 15), "no voice: \(peer.output)")
    us.run.press("59")
    #expect(peer.wait(for: "digit 5") && peer.wait(for: "digit 9"), "\(peer.output)")
    peer.press("digits 37\n")
    let pressed = ["3", "7"].allSatisfy { us.run.wait(for: "\"key\":\"\($0)\"") }
    #expect(pressed, "\(us.run.output)")

    us.run.press("o")
    #expect(us.event("held") && peer.wait(for: "media held"), "\(peer.output)")
    us.run.press("o")
    #expect(us.event("resumed") && peer.wait(for: "media active", times: 2), "\(peer.output)")
    #expect(try us.goesOnHearing(us, tenths: 10), "no voice after our hold")

    peer.press("hold\n")
    #expect(us.event("heldByFarSide"), "\(us.run.output)")
    peer.press("resume\n")
    #expect(us.event("resumedByFarSide"), "\(us.run.output)")
    #expect(try us.goesOnHearing(us, tenths: 10), "no voice after their hold")
  }

  @Test(arguments: ["pjsua.py", "sipral_phone.py"]) func weCallAndHangUp(script: String) throws {
    let port = Bench.port()
    let peer = try start(script, ["\(port)"])
    let us = try Party(
      "us",
      hertz: 500,
      in: Bench.folder(),
      ["call", "sip:peer@127.0.0.1:\(port)"]
    )
    try expectEverything(of: us, with: peer)
    us.run.press("h")
    #expect(us.run.waitForExit() == 0, "\(us.run.output)")
    #expect(peer.wait(for: "ended 200"), "\(peer.output)")
    peer.signal(SIGKILL)
  }

  @Test(arguments: ["pjsua.py", "sipral_phone.py"]) func theyCallAndHangUp(script: String) throws {
    let port = Bench.port()
    let us = try Party(
      "us",
      hertz: 500,
      in: Bench.folder(),
      ["listen", "--answer", "--once", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(us.event("registered"))
    let peer = try start(script, ["\(Bench.port())", "call", "sip:us@127.0.0.1:\(port)"])
    try expectEverything(of: us, with: peer)
    peer.press("hangup\n")
    #expect(us.run.waitForExit() == 0, "\(us.run.output)")
    #expect(us.run.printed("\"cause\":\"hungUpByFarSide\""))
    peer.signal(SIGKILL)
  }
}
