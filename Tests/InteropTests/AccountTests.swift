import Foundation
import Testing

/// Accounts at a real server: Kamailio.
@Suite(.waiting, .serialized)
struct AccountTests {
  private static let packages = "kamailio kamailio-tls-modules"

  @Test(arguments: [("udp", []), ("tcp", []), ("tls", ["SHA256"])])
  func callGoesByTheServer(connection: String, definitions: [String]) throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    try SIPServer(definitions: definitions).carriesACall(over: connection)
  }

  /// The server cancels the other phone, and says why (RFC 3326).
  @Test func otherPhoneLearnsThatTheCallWasAnsweredElsewhere() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let bob = try server.account("bob")
    let phones = try [["--answer", "--once"], ["--once"]].map { options in
      let phone = try Bench.run(
        ["listen", "--account", "bob@localhost", "--listen", "127.0.0.1:0", "--json"]
          + ["--headset", "null", "--ringer", "none"] + options,
        environment: bob
      )
      #expect(phone.wait(for: "\"seconds\":600"), "\(phone.output)")
      return phone
    }
    let caller = try Bench.run(
      ["call", "bob", "--json", "--headset", "null", "--duration", "2"],
      environment: server.account("alice")
    )
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(phones[1].wait(for: "answered elsewhere"), "\(phones[1].output)")
    #expect(phones[0].waitForExit() == 0, "\(phones[0].output)")
    _ = phones[1].waitForExit()
  }

  @Test func testNamesEachStep() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let test = try Bench.run(["account", "test"], environment: server.account("alice"))
    #expect(test.waitForExit() == 0, "\(test.output)")
    for step in [
      "servers: localhost (127.0.0.1:\(server.port + 1)) by TLS", "REGISTER", "401",
      "the password of alice (realm \"localhost\")", "200 OK", "registered for 600 s",
    ] {
      #expect(test.printed(step), "\(test.output)")
    }
    #expect(test.output.firstMatch(of: /\d+\.\d ms/) != nil)
    #expect(!test.printed("secret"))
  }

  @Test func whatIsWrongIsSaidInOneSentence() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    try fails(server.account("alice", password: "wrong"), with: "refuses the name or the password")
    try fails(
      server.account("alice", trusting: "/dev/null"),
      with: "the certificate of localhost is not accepted: unable to get local issuer certificate"
    )
    let other = try SIPServer(certifiedAs: "elsewhere.example")
    try fails(other.account("alice"), with: "not accepted: hostname mismatch")
    let old = try SIPServer(days: 0)
    try fails(old.account("alice"), with: "not accepted: certificate has expired")
    let gone = try server.account("alice")
    server.stop()
    try fails(gone, with: "no connection: Connection refused")
  }

  private func fails(_ environment: [String: String], with words: String) throws {
    let test = try Bench.run(["account", "test"], environment: environment)
    #expect(test.waitForExit() == 1)
    #expect(test.printed(words), "\(test.output)")
    #expect(test.output.split(separator: "\n").last?.hasPrefix("sidetone: ") == true)
  }

  @Test func serverForgetsWhoHasStopped() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer()
    let listener = try server.listen(as: "bob", ["--headset", "null"])
    listener.signal(SIGINT)
    #expect(listener.waitForExit() == 0)
    let caller = try Bench.run(
      ["call", "bob", "--json", "--headset", "null"],
      environment: server.account("alice")
    )
    #expect(caller.waitForExit() == 1)
    #expect(caller.printed("no such user"), "\(caller.output)")
  }

  /// A connection that the server closes after one REGISTER is replaced at once, not when the
  /// registration would be due for renewal.
  @Test func lostConnectionIsMadeAnew() throws {
    try Bench.withListeningSocket { port, listener in
      let folder = try Bench.folder()
      let environment = try SIPServer.account(
        "alice",
        in: folder,
        connection: "tcp",
        at: "127.0.0.1:\(port)"
      )
      let phone = try Bench.run(
        ["listen", "--account", "alice@localhost", "--listen", "127.0.0.1:0", "--json"]
          + ["--headset", "null"],
        environment: environment
      )
      var requests: [String] = []
      for _ in 0..<3 {
        requests.append(try #require(try Bench.answerOneRequest(at: listener)))
      }
      // Where the phone was before it is not called any more.
      func removals(_ text: String) -> Int { text.components(separatedBy: ";expires=0").count - 1 }
      #expect(requests.map(removals) == [0, 1, 1])
      // It is the same phone all the time.
      let names = requests.map { $0.firstMatch(of: /urn:uuid:([0-9a-f-]+)/)?.1 }
      #expect(names[0] != nil && Set(names).count == 1)
      #expect(phone.wait(for: "the connection to the server has gone"), "\(phone.output)")
      phone.signal(SIGKILL)
      _ = phone.waitForExit()
    }
  }

  /// The server writes what it grants beside our contact, which it gives back as it was.
  @Test func registrationLastsAsLongAsTheServerSays() throws {
    try Bench.withListeningSocket { port, listener in
      let environment = try SIPServer.account(
        "alice",
        in: Bench.folder(),
        connection: "tcp",
        at: "127.0.0.1:\(port)"
      )
      let phone = try Bench.run(
        ["listen", "--account", "alice@localhost", "--listen", "127.0.0.1:0", "--json"]
          + ["--headset", "null"],
        environment: environment
      )
      let request = try #require(try Bench.answerOneRequest(at: listener, granting: 71))
      #expect(request.contains("+sip.instance=\"<urn:uuid:"))
      #expect(phone.wait(for: "\"seconds\":71"), "\(phone.output)")
      phone.signal(SIGKILL)
      _ = phone.waitForExit()
    }
  }

  /// The server's asserted identity of a caller counts if it cannot be forged by others: by TLS,
  /// not by UDP.
  @Test(arguments: ["tls", "udp"]) func assertedIdentityIsTrusted(connection: String) throws {
    guard SIPServer.kamailio != nil else { return Bench.skip(Self.packages) }
    let server = try SIPServer(definitions: ["ASSERTED"])
    let listener = try server.listen(
      as: "bob",
      connection: connection,
      ["--answer", "--once", "--headset", "null"]
    )
    let caller = try Bench.run(
      ["call", "bob", "--json", "--headset", "null", "--duration", "0.5"],
      environment: server.account("alice", connection: connection)
    )
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(listener.waitForExit() == 0, "\(listener.output)")
    let name = connection == "tls" ? "The Boss <sip:boss@localhost>" : "sip:alice@localhost"
    #expect(listener.printed("\"from\":\"\(name)\""), "\(listener.output)")
  }

  @Test func anonymousCallersAreRefusedOnRequest() throws {
    let port = Bench.port()
    let listener = try Bench.run(
      ["listen", "--answer", "--no-anonymous", "--json", "--listen", "127.0.0.1:\(port)"]
        + ["--headset", "null"]
    )
    #expect(listener.wait(for: "registered"))
    for (user, isTaken) in [("anonymous", false), ("alice", true)] {
      let caller = try Bench.run(
        ["call", "sip:bob@127.0.0.1:\(port)", "--user", user, "--json", "--headset", "null"]
          + ["--duration", "0.5"]
      )
      #expect(caller.waitForExit() == (isTaken ? 0 : 1), "\(caller.output)")
      #expect(caller.printed("433 Anonymity Disallowed") != isTaken, "\(caller.output)")
    }
    listener.signal(SIGTERM)
    _ = listener.waitForExit()
  }
}
