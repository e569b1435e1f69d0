import Foundation
import Testing

/// Calls that go on without the side that made them, by way of a real server.
@Suite(.waiting, .serialized)
struct TransferTests {
  private static let packages = "kamailio and kamailio-tls-modules"

  private func party(
    _ name: String,
    hertz: Double,
    at server: SIPServer,
    _ arguments: [String]
  ) throws -> Party {
    try Party(
      name,
      hertz: hertz,
      in: server.folder,
      arguments + ["--account", "\(name)@localhost", "--listen", "127.0.0.1:0"],
      environment: server.account(name)
    )
  }

  private static func count(_ tenths: [Bool]) -> Int { tenths.count { $0 } }

  @Test func farSideCallsWhoItIsAskedToCall() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let bob = try party("bob", hertz: 800, at: server, ["listen", "--answer"])
    let carol = try party("carol", hertz: 1_250, at: server, ["listen", "--answer"])
    for party in [bob, carol] {
      #expect(party.run.wait(for: "\"seconds\":600"), "\(party.run.output)")
    }
    let alice = try party("alice", hertz: 500, at: server, ["call", "bob"])
    #expect(alice.event("connected") && bob.event("connected"))
    alice.run.press("tcarol\n")
    #expect(alice.event("transferring") && bob.event("transferRequested"))
    bob.run.press("y")
    #expect(carol.event("connected"), "\(carol.run.output)")
    // Her part is over, and well.
    #expect(alice.run.waitForExit() == 0, "\(alice.run.output)")
    #expect(alice.run.printed("\"reason\":\"transferred\""))
    bob.run.letRun(seconds: 3)
    bob.run.press("h")
    #expect(carol.event("ended"))
    for party in [bob, carol] {
      party.run.signal(SIGINT)
      _ = party.run.waitForExit()
    }
    #expect(Self.count(try bob.hears(carol)) >= 20)
    #expect(Self.count(try carol.hears(bob)) >= 20)
    #expect(Self.count(try carol.hears(alice)) == 0)
  }

  @Test func aTargetThatDeclinesLeavesTheCallAsItWas() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let bob = try party("bob", hertz: 800, at: server, ["listen", "--answer"])
    let carol = try party("carol", hertz: 1_250, at: server, ["listen"])
    for party in [bob, carol] {
      #expect(party.run.wait(for: "\"seconds\":600"), "\(party.run.output)")
    }
    let alice = try party("alice", hertz: 500, at: server, ["call", "bob"])
    #expect(alice.event("connected"))
    alice.run.press("tcarol\n")
    #expect(bob.event("transferRequested"))
    bob.run.press("y")
    #expect(carol.event("incoming"))
    carol.run.press("d")
    #expect(alice.run.wait(for: "the transfer failed"), "\(alice.run.output)")
    #expect(alice.event("resumedByFarSide"), "\(alice.run.output)")
    alice.run.press("h")
    #expect(alice.run.waitForExit() == 0, "\(alice.run.output)")
    for party in [bob, carol] {
      party.run.signal(SIGINT)
      _ = party.run.waitForExit()
    }
  }

  @Test func twoFarSidesAreConnected() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let bob = try party("bob", hertz: 800, at: server, ["listen"])
    #expect(bob.run.wait(for: "\"seconds\":600"), "\(bob.run.output)")
    let alice = try party("alice", hertz: 500, at: server, ["call", "bob"])
    #expect(bob.event("incoming"))
    bob.run.press("a")
    #expect(bob.event("connected"))
    let carol = try party("carol", hertz: 1_250, at: server, ["call", "bob"])
    #expect(bob.event("incoming", times: 2))
    bob.run.press("a")
    #expect(bob.event("connected", times: 2) && alice.event("heldByFarSide"))
    bob.run.press("t")
    #expect(alice.event("transferRequested"), "\(alice.run.output)")
    alice.run.press("y")
    // Both of his calls are over, and there was nothing to answer.
    #expect(bob.event("ended", times: 2), "\(bob.run.output)")
    #expect(carol.event("connected", times: 2), "\(carol.run.output)")
    alice.run.letRun(seconds: 3)
    alice.run.press("h")
    for party in [alice, carol, bob] {
      party.run.signal(SIGINT)
      _ = party.run.waitForExit()
    }
    #expect(Self.count(try alice.hears(carol)) >= 20)
    #expect(Self.count(try carol.hears(alice)) >= 20)
  }
}
