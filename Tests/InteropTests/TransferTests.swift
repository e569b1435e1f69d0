import Foundation
import Testing

/// Calls that go on without the side that made them, by way of a real server.
@Suite(.waiting, .serialized)
struct TransferTests {
  private static let packages = "kamailio kamailio-tls-modules"

  /// Frequencies of the tones that identify the parties, in hertz.
  private static let tones = ["alice": 500.0, "bob": 800, "carol": 1_250, "dave": 2_000]

  private func party(
    _ name: String,
    at server: SIPServer,
    _ arguments: [String]
  ) throws -> Party {
    try Party(
      name,
      hertz: #require(Self.tones[name]),
      in: server.folder,
      arguments + ["--account", "\(name)@localhost", "--listen", "127.0.0.1:0"],
      environment: server.account(name)
    )
  }

  /// Bob with two callers, the first of whom is on hold; he may have a third call.
  private func bobInTwoCalls(
    with first: String,
    _ second: String,
    at server: SIPServer
  ) throws -> (bob: Party, first: Party, second: Party) {
    let bob = try party("bob", at: server, ["listen", "--calls", "3"])
    #expect(bob.run.wait(for: "\"seconds\":600"), "\(bob.run.output)")
    var callers: [Party] = []
    for (index, name) in [first, second].enumerated() {
      callers.append(try party(name, at: server, ["call", "bob"]))
      #expect(bob.event("incoming", times: index + 1))
      bob.run.press("a")
      #expect(bob.event("connected", times: index + 1) && callers[index].event("connected"))
    }
    #expect(callers[0].event("heldByFarSide"))
    return (bob, callers[0], callers[1])
  }

  private func end(_ parties: [Party]) {
    for party in parties {
      party.run.signal(SIGINT)
      _ = party.run.waitForExit()
    }
  }

  @Test func farSideCallsWhoItIsAskedToCall() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let bob = try party("bob", at: server, ["listen", "--answer"])
    let carol = try party("carol", at: server, ["listen", "--answer"])
    for party in [bob, carol] {
      #expect(party.run.wait(for: "\"seconds\":600"), "\(party.run.output)")
    }
    let alice = try party("alice", at: server, ["call", "bob"])
    #expect(alice.event("connected") && bob.event("connected"))
    alice.run.press("tcarol\n")
    #expect(alice.event("transferring") && bob.event("transferRequested"))
    bob.run.press("y")
    #expect(carol.event("connected"), "\(carol.run.output)")
    // Her part is over, and well.
    #expect(alice.run.waitForExit() == 0, "\(alice.run.output)")
    #expect(alice.run.printed("\"reason\":\"transferred\""))
    #expect(try bob.goesOnHearing(carol, tenths: 20) && carol.goesOnHearing(bob, tenths: 20))
    bob.run.press("h")
    #expect(carol.event("ended"))
    end([bob, carol])
    #expect(try carol.hears(alice).allSatisfy { !$0 })
  }

  @Test func aTargetThatDeclinesLeavesTheCallAsItWas() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let bob = try party("bob", at: server, ["listen", "--answer"])
    let carol = try party("carol", at: server, ["listen"])
    for party in [bob, carol] {
      #expect(party.run.wait(for: "\"seconds\":600"), "\(party.run.output)")
    }
    let alice = try party("alice", at: server, ["call", "bob"])
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
    end([bob, carol])
  }

  @Test(arguments: [false, true])
  func twoFarSidesAreConnected(isCarolMuted: Bool) throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let (bob, alice, carol) = try bobInTwoCalls(with: "alice", "carol", at: server)
    if isCarolMuted { carol.run.press("m") }
    bob.run.press("t")
    #expect(alice.event("transferRequested"), "\(alice.run.output)")
    alice.run.press("y")
    // Both of his calls are over, and there was nothing to answer.
    #expect(bob.event("ended", times: 2), "\(bob.run.output)")
    #expect(carol.event("connected", times: 2), "\(carol.run.output)")
    #expect(try carol.goesOnHearing(alice, tenths: 20))
    if !isCarolMuted { #expect(try alice.goesOnHearing(carol, tenths: 20)) }
    alice.run.press("h")
    end([alice, carol, bob])
    let heard = try alice.hears(carol).count { $0 }
    #expect(isCarolMuted == (heard == 0), "she heard \(heard) tenths of a second")
  }

  @Test func whoReplacesAHeldCallRings() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let (bob, alice, carol) = try bobInTwoCalls(with: "alice", "carol", at: server)
    carol.run.press("o")
    #expect(carol.event("held") && bob.event("heldByFarSide"))
    bob.run.press("t")
    #expect(alice.event("transferRequested"))
    alice.run.press("y")
    #expect(carol.event("incoming") && alice.event("ringing"), "\(carol.run.output)")
    carol.run.press("a")
    #expect(carol.event("connected", times: 2) && bob.event("ended", times: 2))
    end([alice, carol, bob])
  }

  @Test func aTransferThatFailsGivesTheInterruptedCallBack() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let carol = try party("carol", at: server, ["listen"])
    #expect(carol.run.wait(for: "\"seconds\":600"), "\(carol.run.output)")
    let (bob, alice, dave) = try bobInTwoCalls(with: "alice", "dave", at: server)
    alice.run.press("tcarol\n")
    #expect(bob.event("transferRequested"), "\(bob.run.output)")
    bob.run.press("y")
    #expect(carol.event("incoming") && dave.event("heldByFarSide"), "\(bob.run.output)")
    carol.run.press("d")
    #expect(dave.event("resumedByFarSide"), "\(bob.run.output)")
    #expect(!alice.run.printed("resumedByFarSide"))
    end([alice, dave, carol, bob])
  }

  @Test func whoReplacesAMemberJoinsItsConference() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let (bob, carol, alice) = try bobInTwoCalls(with: "carol", "alice", at: server)
    bob.run.press("c")
    #expect(bob.event("joined") && carol.event("resumedByFarSide"), "\(bob.run.output)")
    let dave = try party("dave", at: server, ["call", "alice"])
    #expect(alice.event("incoming"), "\(alice.run.output)")
    alice.run.press("a")
    #expect(alice.event("connected", times: 2) && dave.event("connected"))
    alice.run.press("s")
    #expect(dave.event("heldByFarSide") && bob.event("resumedByFarSide"))
    alice.run.press("t")
    #expect(dave.event("transferRequested"), "\(dave.run.output)")
    dave.run.press("y")
    #expect(bob.event("joined", times: 2), "\(bob.run.output)")
    #expect(try carol.goesOnHearing(dave, tenths: 20) && dave.goesOnHearing(carol, tenths: 20))
    end([dave, carol, alice, bob])
  }
}
