import Foundation
import ProgramRig
import Simulation
import Testing

/// Encrypted calls between two hosts with an attacker on the path, who may read, drop, change and
/// add everything.
@Suite(.waiting, .serialized)
struct AttackTests {
  private static func scene(_ attacker: any RelayAttacker) throws -> AttackScene? {
    guard Bench.ip != nil else {
      Bench.skip("iproute2 root")
      return nil
    }
    return try AttackScene(attacker)
  }

  @Test func aListenerHearsNoWordAndNoName() throws {
    let eavesdropper = Eavesdropper()
    guard let scene = try Self.scene(eavesdropper) else { return }
    let listener = try scene.listen()
    let caller = try scene.call()
    #expect(caller.waitForExit() == 0)
    #expect(caller.printed("\"encrypted\":true"))
    scene.end(listener)
    #expect(try Bench.carries(scene.said, in: scene.heard))
    #expect(eavesdropper.packets.count > 500)
    // Three bytes alone occur by chance in one of twenty calls' ciphertext.
    for text in ["INVITE", "sip:", "bob@", "SIP/2.0", "a=fingerprint"] {
      #expect(!eavesdropper.hasHeard(text), "\(text) passed in the open")
    }
    // Packets of a duration have one length, in both directions: it tells nothing.
    let lengths = eavesdropper.packets.compactMap { InternetPacket($0) }
      .filter { $0.content == .udp && $0.payload.count > 1 && $0.payload[0] == 0x80 }
      .filter { $0.payload[1] & 0x7f == 96 }.map(\.payload.count)
    #expect(lengths.count > 400 && Set(lengths).count <= 3, "\(Set(lengths))")
  }

  @Test func anotherIdentityIsRefusedUntilTheUserAcceptsIt() throws {
    guard let scene = try Self.scene(Eavesdropper()) else { return }
    var listener = try scene.listen()
    #expect(try scene.call(seconds: 1).waitForExit() == 0)
    let again = try scene.call(seconds: 1)
    #expect(again.waitForExit() == 0 && again.printed("\"known\":true"))
    scene.end(listener)

    _ = try scene.tool(on: 1, "identity", "--renew")
    listener = try scene.listen()
    let refused = try scene.call(seconds: 1)
    #expect(refused.waitForExit() == 1)
    #expect(refused.printed("sidetone peers forget bob@\(Relay.addresses[1])"))
    #expect(!refused.printed("connected") && !listener.printed("connected"))

    _ = try scene.tool(on: 0, "peers", "forget", "bob@\(Relay.addresses[1])")
    let accepted = try scene.call(seconds: 1)
    #expect(accepted.waitForExit() == 0, "\(accepted.output)")
    scene.end(listener)
  }

  @Test func aBlockedConnectionIsNoOpenCall() throws {
    guard let scene = try Self.scene(Eavesdropper()) else { return }
    var listener = try scene.listen()
    #expect(try scene.call(seconds: 1).waitForExit() == 0)
    scene.end(listener)
    let blockade = Blockade(port: 5_061)
    try scene.replace(blockade)
    listener = try scene.listen()
    let blocked = try scene.call(seconds: 1)
    #expect(blocked.waitForExit() == 1)
    #expect(blocked.printed("no encrypted connection"))
    #expect(!listener.printed("incoming"))
    scene.end(listener)
  }

  /// The far side announces keys that never come: the call ends with a reason, and nothing is sent
  /// unencrypted.
  @Test func aHandshakeThatNeverEndsEndsTheCall() throws {
    guard let scene = try Self.scene(HandshakeThief(.udp)) else { return }
    let listener = try scene.listen()
    let caller = try scene.call(seconds: 30)
    #expect(caller.waitForExit() == 1)
    #expect(caller.printed("did not finish the handshake") || caller.printed("hung up"))
    #expect(!caller.printed("\"stats\"") && !caller.printed("\"encrypted\":true"))
    scene.end(listener)
  }

  /// A TLS connection that is accepted and then stays silent is given up after five seconds.
  ///
  /// A peer that is not known yet is then called without it.
  @Test func aConnectionThatStaysSilentIsGivenUp() throws {
    guard let scene = try Self.scene(HandshakeThief(.tcp)) else { return }
    let listener = try scene.listen()
    let caller = try scene.call(seconds: 1)
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(caller.printed("\"encrypted\":true"))
    scene.end(listener)
  }

  /// Even an unencrypted call is ended only by its far side: the dialog's tags alone do not
  /// suffice.
  @Test func aGoodbyeFromAnotherPortEndsNothing() throws {
    let terminator = Terminator()
    guard let scene = try Self.scene(terminator) else { return }
    let listener = try scene.listen()
    let caller = try scene.call(seconds: 4, "--security", "off")
    #expect(caller.waitForExit() == 0)
    #expect(terminator.sent > 0)
    let figures = caller.output.components(separatedBy: "\"event\":\"stats\"").count
    #expect(figures >= 4 && caller.printed("\"reason\":\"hung up\""))
    scene.end(listener)
  }

  @Test func forgedPacketsAreNotHeardAndEndNothing() throws {
    let forger = Forger()
    guard let scene = try Self.scene(forger) else { return }
    let listener = try scene.listen()
    let caller = try scene.call(seconds: 10)
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(caller.printed("\"reason\":\"hung up\""))
    scene.end(listener)
    #expect(forger.added > 10_000)
    #expect(try Bench.carries(scene.said, in: scene.heard))
    for run in [caller, listener] {
      let losses = run.output.components(separatedBy: "\"packetsLost\":").dropFirst()
        .compactMap { Int($0.prefix(while: \.isNumber)) }
      // A busy machine may drop a few among so many; forged numbers would be thousands.
      #expect(losses.count > 5 && losses.allSatisfy { $0 < 40 }, "\(losses)")
      #expect(!run.printed("\"concealedMs\":-"))
    }
  }
}
