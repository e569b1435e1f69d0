import Foundation
import ProgramRig
import Testing

/// Calls with the quirks of other telephones and networks, as SIPp (Debian's sip-tester) plays
/// them.
@Suite(.waiting, .serialized)
struct ScenarioTests {
  private static let sipp = Bench.find("sipp")

  /// Starts one call of a scenario of Tests/Servers.
  private func play(
    _ scenario: String,
    at port: Int,
    to target: Int? = nil,
    options: [String] = [],
    replacing replacement: (old: String, new: String)? = nil
  ) throws -> ProgramRun {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Servers/\(scenario).xml")
    let file = try Bench.folder().appendingPathComponent("\(scenario).xml").path
    var text = try String(contentsOf: source, encoding: .utf8)
    if let replacement { text = text.replacing(replacement.old, with: replacement.new) }
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let peer = try ProgramRun(
      #require(Self.sipp),
      [
        "-sf", file, "-m", "1", "-i", "127.0.0.1", "-p", "\(port)", "-nostdin", "-timeout", "30",
        "-timeout_error", "-mi", "127.0.0.1", "-mp", "\(Bench.port())",
      ] + options + (target.map { ["127.0.0.1:\($0)"] } ?? [])
    )
    // SIPp does not say when it listens.
    if target == nil { #expect(LoopbackSocket.isTaken(port), "\(peer.output)") }
    return peer
  }

  /// SIPp echoes the caller's voice before the answer, which comes when the sentence is over.
  @Test func voiceBeforeTheAnswerIsHeard() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let port = Bench.port()
    let peer = try play("early-media", at: port, options: ["-rtp_echo"])
    let folder = try Bench.folder()
    let said = folder.appendingPathComponent("said.wav")
    let heard = folder.appendingPathComponent("heard.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: said)
    let caller = try Bench.run([
      "call", "sip:bob@127.0.0.1:\(port);transport=udp", "--listen", "127.0.0.1:0", "--duration",
      "0.5", "--json", "--capture", "file:\(said.path)", "--playback", "file:\(heard.path)",
    ])
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    // The sentence is over before it answers.
    #expect(try Bench.carries(said, in: heard))
    #expect(caller.printed("\"encrypted\":false"))
    #expect(peer.waitForExit() == 0, "\(peer.output)")
  }

  @Test func calleeWhoHasMovedIsNamed() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let port = Bench.port()
    let peer = try play("moved", at: port)
    let caller = try Bench.run([
      "call", "sip:bob@127.0.0.1:\(port);transport=udp", "--listen", "127.0.0.1:0", "--json",
      "--headset", "null",
    ])
    #expect(caller.waitForExit() == 1)
    #expect(caller.printed("call sip:carol@example.org instead"), "\(caller.output)")
    #expect(peer.waitForExit() == 0, "\(peer.output)")
  }

  /// A stale nonce does not mean a wrong password; endless challenges count as a refusal.
  @Test(arguments: [("stale-nonce", "registered for 600 s"), ("endless-challenges", "refuses")])
  func registrationIsChallenged(scenario: String, outcome: String) throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let port = Bench.port()
    let peer = try play(scenario, at: port)
    let account = try SIPServer.account(
      "alice",
      in: Bench.folder(),
      connection: "udp",
      at: "127.0.0.1:\(port)"
    )
    let test = try Bench.run(["account", "test"], environment: account)
    #expect(test.waitForExit() != nil)
    #expect(test.printed(outcome), "\(test.output)")
    #expect(peer.waitForExit() == 0, "\(peer.output)")
  }

  @Test func digitsByInfoAreTold() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let port = Bench.port()
    let listener = try Bench.run([
      "listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)", "--headset",
      "null",
    ])
    #expect(listener.wait(for: "registered"))
    let peer = try play("digits-by-info", at: Bench.port(), to: port)
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    #expect(listener.waitForExit() == 0, "\(listener.output)")
    let keys = listener.output.matches(of: /"key":"(.)"/).map { String($0.1) }
    #expect(keys == ["7", "#"])
  }

  /// A gateway's offer is one part of several, and its caller has a number in place of an address,
  /// without being anonymous.
  @Test func aGatewayIsUnderstood() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let listener = try self.listener(options: ["--no-anonymous"])
    let peer = try play("gateway", at: Bench.port(), to: listener.port)
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    #expect(listener.run.waitForExit() == 0, "\(listener.run.output)")
    #expect(listener.run.printed("tel:+49-30-1234"), "\(listener.run.output)")
  }

  @Test func aCallRingsUntilItsInvitationExpires() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let port = Bench.port()
    let listener = try Bench.run([
      "listen", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null",
    ])
    #expect(listener.wait(for: "registered"))
    let peer = try play("expires", at: Bench.port(), to: port)
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    #expect(listener.wait(for: "\"ended\""), "\(listener.output)")
    listener.signal(SIGINT)
    _ = listener.waitForExit()
  }

  /// Some servers send the notice without a subscription, and so without this side's tag.
  @Test(arguments: [true, false]) func waitingMessagesAreTold(isSubscribed: Bool) throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let port = Bench.port()
    let unasked = (
      old: "To:[$2]", new: "To: <sip:alice@localhost>\n      X-Subscriber:[$2]"
    )
    let peer = try play(
      "messages",
      at: port,
      options: ["-m", "2"],
      replacing: isSubscribed ? nil : unasked
    )
    let account = try SIPServer.account(
      "alice",
      in: Bench.folder(),
      connection: "udp",
      at: "127.0.0.1:\(port)"
    )
    let listener = try Bench.run(
      ["listen", "--account", "alice@localhost", "--listen", "127.0.0.1:0", "--json"]
        + ["--headset", "null"],
      environment: account
    )
    #expect(listener.wait(for: "\"count\":2,\"event\":\"messagesWaiting\""), "\(listener.output)")
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    listener.signal(SIGKILL)
    _ = listener.waitForExit()
  }

  /// Each of the four ways to hold is understood, and so is each resume.
  @Test func heldInEachWay() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let listener = try self.listener()
    let peer = try play("four-holds", at: Bench.port(), to: listener.port, options: ["-rtp_echo"])
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    #expect(listener.run.waitForExit() == 0, "\(listener.run.output)")
    let events = listener.run.output.matches(of: /(heldByFarSide|resumedByFarSide)/).map { $0.1 }
    // One that only listens holds nothing: what is said here is heard there.
    #expect(events.count == 6, "\(listener.run.output)")
  }

  @Test func sessionIsRefreshedByBothSides() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    // The far side asks for the shortest timer, of which this side refreshes after half its time.
    let listener = try self.listener(options: ["--duration", "47"])
    let peer = try play(
      "session-timer",
      at: Bench.port(),
      to: listener.port,
      options: ["-rtp_echo", "-timeout", "70"]
    )
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    #expect(listener.run.waitForExit() == 0, "\(listener.run.output)")
  }

  @Test(arguments: ["408 Request Timeout", "491 Request Pending", "500 Server Internal Error"])
  func anOfferThatCannotBeTakenJustNowIsMadeAgain(failure: String) throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let listener = try self.listener(options: ["--keys"])
    let peer = try play(
      "glare",
      at: Bench.port(),
      to: listener.port,
      options: ["-rtp_echo"],
      replacing: ("491 Request Pending", failure)
    )
    #expect(listener.run.wait(for: "\"stats\""))
    listener.run.press("o")
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    #expect(listener.run.waitForExit() == 0, "\(listener.run.output)")
  }

  @Test func theSecondPhoneThatAnswersIsHungUp() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let port = Bench.port()
    let peer = try play("two-answers", at: port, options: ["-rtp_echo"])
    let caller = try Bench.run([
      "call", "sip:bob@127.0.0.1:\(port);transport=udp", "--listen", "127.0.0.1:0", "--duration",
      "1", "--json", "--headset", "null",
    ])
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(peer.waitForExit() == 0, "\(peer.output)")
  }

  @Test func aCallInTheOpenIsNotTakenOver() throws {
    guard Self.sipp != nil else { return Bench.skip("sip-tester") }
    let listener = try self.listener(options: ["--calls", "2"])
    let peer = try play("taking-over", at: Bench.port(), to: listener.port, options: ["-rtp_echo"])
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    #expect(listener.run.waitForExit() == 0, "\(listener.run.output)")
    #expect(listener.run.output.components(separatedBy: "\"incoming\"").count == 2)
  }

  /// A direct caller cannot have a call made by the user's account, even if the user agrees.
  @Test func aStrangerCannotUseAnAccount() throws {
    guard Self.sipp != nil, SIPServer.kamailio != nil else { return Bench.skip("sip-tester") }
    let server = try SIPServer()
    let carol = try server.listen(as: "carol", ["--headset", "null", "--ringer", "none"])
    let port = Bench.port()
    let bob = try server.listen(
      as: "bob",
      at: port,
      ["--answer", "--once", "--keys", "--headset", "null"]
    )
    let peer = try play("referring", at: Bench.port(), to: port, options: ["-rtp_echo"])
    #expect(bob.wait(for: "transferRequested"), "\(bob.output)")
    // The digit comes once a second request has been refused.
    #expect(bob.wait(for: "\"key\":\"1\""), "\(bob.output)")
    #expect(peer.waitForExit() == 0, "\(peer.output)")
    bob.press("y")
    #expect(bob.wait(for: "no SIP phone listens"), "\(bob.output)")
    bob.signal(SIGKILL)
    _ = bob.waitForExit()
    #expect(!carol.printed("incoming"))
    carol.signal(SIGTERM)
    _ = carol.waitForExit()
  }

  private func listener(options: [String] = []) throws -> (run: ProgramRun, port: Int) {
    let port = Bench.port()
    let run = try Bench.run(
      ["listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)"]
        + ["--headset", "null"] + options
    )
    #expect(run.wait(for: "registered"))
    return (run, port)
  }
}
