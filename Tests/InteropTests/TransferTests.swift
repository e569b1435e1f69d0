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

  @Test(arguments: [false, true])
  func twoFarSidesAreConnected(isCarolMuted: Bool) throws {
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
    #expect(carol.event("connected"))
    if isCarolMuted { carol.run.press("m") }
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
    let heard = Self.count(try alice.hears(carol))
    #expect(isCarolMuted ? heard == 0 : heard >= 20, "she heard \(heard) tenths of a second")
    #expect(Self.count(try carol.hears(alice)) >= 20)
  }

  @Test func whoReplacesAHeldCallRings() throws {
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
    #expect(carol.event("connected"))
    carol.run.press("o")
    #expect(carol.event("held") && bob.event("heldByFarSide"))
    bob.run.press("t")
    #expect(alice.event("transferRequested"))
    alice.run.press("y")
    #expect(carol.event("incoming") && alice.event("ringing"), "\(carol.run.output)")
    carol.run.press("a")
    #expect(carol.event("connected", times: 2) && bob.event("ended", times: 2))
    for party in [alice, carol, bob] {
      party.run.signal(SIGINT)
      _ = party.run.waitForExit()
    }
  }

  @Test func aTransferThatFailsGivesTheInterruptedCallBack() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let bob = try party("bob", hertz: 800, at: server, ["listen", "--calls", "3"])
    let carol = try party("carol", hertz: 1_250, at: server, ["listen"])
    for party in [bob, carol] {
      #expect(party.run.wait(for: "\"seconds\":600"), "\(party.run.output)")
    }
    let alice = try party("alice", hertz: 500, at: server, ["call", "bob"])
    #expect(bob.event("incoming"))
    bob.run.press("a")
    #expect(bob.event("connected"))
    let dave = try party("dave", hertz: 2_000, at: server, ["call", "bob"])
    #expect(bob.event("incoming", times: 2))
    bob.run.press("a")
    #expect(bob.event("connected", times: 2) && alice.event("heldByFarSide"))
    alice.run.press("tcarol\n")
    #expect(bob.event("transferRequested"), "\(bob.run.output)")
    bob.run.press("y")
    #expect(carol.event("incoming") && dave.event("heldByFarSide"), "\(bob.run.output)")
    carol.run.press("d")
    #expect(dave.event("resumedByFarSide"), "\(bob.run.output)")
    #expect(!alice.run.printed("resumedByFarSide"))
    for party in [alice, dave, carol, bob] {
      party.run.signal(SIGINT)
      _ = party.run.waitForExit()
    }
  }

  @Test func whoReplacesAMemberJoinsItsConference() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let bob = try party("bob", hertz: 800, at: server, ["listen"])
    #expect(bob.run.wait(for: "\"seconds\":600"), "\(bob.run.output)")
    let carol = try party("carol", hertz: 1_250, at: server, ["call", "bob"])
    #expect(bob.event("incoming"))
    bob.run.press("a")
    #expect(bob.event("connected"))
    let alice = try party("alice", hertz: 500, at: server, ["call", "bob"])
    #expect(bob.event("incoming", times: 2))
    bob.run.press("a")
    #expect(bob.event("connected", times: 2) && carol.event("heldByFarSide"))
    bob.run.press("c")
    #expect(bob.event("joined") && carol.event("resumedByFarSide"), "\(bob.run.output)")
    let dave = try party("dave", hertz: 2_000, at: server, ["call", "alice"])
    #expect(alice.event("incoming"), "\(alice.run.output)")
    alice.run.press("a")
    #expect(alice.event("connected", times: 2) && dave.event("connected"))
    alice.run.press("s")
    #expect(dave.event("heldByFarSide") && bob.event("resumedByFarSide"))
    alice.run.press("t")
    #expect(dave.event("transferRequested"), "\(dave.run.output)")
    dave.run.press("y")
    #expect(bob.event("joined", times: 2), "\(bob.run.output)")
    dave.run.letRun(seconds: 3)
    for party in [dave, carol, alice, bob] {
      party.run.signal(SIGINT)
      _ = party.run.waitForExit()
    }
    #expect(Self.count(try carol.hears(dave)) >= 20)
    #expect(Self.count(try dave.hears(carol)) >= 20)
  }
}
