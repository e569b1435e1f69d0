import Foundation
import Glibc
import ProgramRig
import Testing

/// Promises of SECURITY.md and Security.md about whole programs, one by one.
@Suite(.waiting)
struct PromiseTests {
  private func phone(at port: Int, _ options: String...) throws -> ProgramRun {
    let run = try Bench.run(
      ["listen", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null"] + options
    )
    #expect(run.wait(for: "registered"), "\(run.output)")
    return run
  }

  /// A data folder of its own for a user of this machine.
  private func user() throws -> [String: String] {
    ["XDG_DATA_HOME": try Bench.folder().path]
  }

  private func question(_ number: Int, from port: UInt16, filler: Int) -> [UInt8] {
    let subject = String(repeating: "word word\r\n ", count: filler / 12)
    let text = SIPQuestion(number, by: "udp", from: port).text
    return Array(text.replacing("Max-Forwards", with: "Subject: \(subject)x\r\nMax-Forwards").utf8)
  }

  /// A message of more than 8 kB by UDP gets no answer, though its headers are few enough.
  @Test func messagesThatAreTooLongAreDropped() throws {
    let port = Bench.port()
    let run = try phone(at: port)
    try Bench.withBoundSocket { own, descriptor in
      for (number, filler) in [(1, 9_000), (2, 3_000)] {
        let bytes = question(number, from: own, filler: filler)
        #expect(LoopbackSocket.send(bytes, to: UInt16(port), from: descriptor))
      }
      // The first answer is that to the second question.
      let answer = try #require(LoopbackSocket.datagram(at: descriptor, within: Patience.limit))
      let second = SIPQuestion(2, by: "udp", from: own)
      #expect(second.isAnswered(in: String(decoding: answer, as: UTF8.self)))
    }
    try Bench.withSocket(SOCK_STREAM) { connection in
      LoopbackSocket.connect(connection, to: UInt16(port))
      let head = SIPQuestion(3, by: "tcp", from: LoopbackSocket.port(of: connection)).text
        .replacing("Content-Length: 0", with: "Content-Length: 70000")
      let bytes = Array((head + String(repeating: "x", count: 70_000)).utf8)
      // The far end may close before it has taken everything.
      _ = unsafe send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      #expect(!LoopbackSocket.ready([connection], within: Patience.limit).isEmpty)
      var byte: UInt8 = 0
      let length = unsafe recv(connection, &byte, 1, Int32(MSG_DONTWAIT))
      #expect(length == 0 || length < 0 && errno == ECONNRESET, "it is closed")
    }
    run.signal(SIGKILL)
  }

  @Test func callsComeInWhereThePortForTLSIsTaken() throws {
    let port = Bench.port()
    try Bench.withSocket(SOCK_STREAM) { taken in
      try #require(LoopbackSocket.bind(taken, to: UInt16(port + 1)))
      try #require(Glibc.listen(taken, 1) == 0)
      let run = try phone(at: port, "--answer", "--once")
      #expect(run.wait(for: "127.0.0.1:\(port + 1) (TLS): Address already in use"), "\(run.output)")
      let caller = try Bench.run(
        ["call", "sip:bob@127.0.0.1:\(port);transport=udp", "--json", "--headset", "null"]
          + ["--duration", "0.5"]
      )
      #expect(caller.waitForExit() == 0, "\(caller.output)")
      #expect(run.waitForExit() == 0, "\(run.output)")
    }
  }

  private func openssl(_ arguments: String...) throws -> ProgramRun {
    try ProgramRun(try #require(Bench.find("openssl"), "install openssl"), arguments)
  }

  /// With its security level lowered OpenSSL's client would take the older version.
  @Test(arguments: [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)])
  func olderVersionsOfTLSAreNotTaken(version: String, isTaken: Bool) throws {
    let port = Bench.port()
    let run = try phone(at: port)
    let client = try openssl(
      "s_client",
      "-connect",
      "127.0.0.1:\(port + 1)",
      version,
      "-cipher",
      "ALL:@SECLEVEL=0"
    )
    client.press("Q\n")
    _ = client.waitForExit()
    #expect(client.printed("Server certificate") == isTaken, "\(client.output)")
    #expect(client.printed("alert protocol version") != isTaken, "\(client.output)")
    run.signal(SIGKILL)
  }

  @Test func callersShowTheirCertificateToo() throws {
    let port = Bench.port()
    let folder = try Bench.folder()
    let (key, certificate) = (folder.path + "/key.pem", folder.path + "/certificate.pem")
    let made = try openssl(
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-subj",
      "/CN=bob",
      "-keyout",
      key,
      "-out",
      certificate
    )
    try #require(made.waitForExit() == 0, "\(made.output)")
    let server = try openssl(
      "s_server",
      "-accept",
      "\(port)",
      "-key",
      key,
      "-cert",
      certificate,
      "-Verify",
      "1"
    )
    #expect(server.wait(for: "ACCEPT"), "\(server.output)")
    let environment = try user()
    let caller = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port);transport=tls", "--json", "--headset", "null"],
      environment: environment
    )
    #expect(server.wait(for: "Client certificate"), "\(server.output)")
    #expect(server.wait(for: "INVITE sip:bob@"), "\(server.output)")
    caller.signal(SIGKILL)
    server.signal(SIGKILL)
  }

  /// A caller who was known here and has another identity now is refused before the phone rings.
  @Test func anotherIdentityOfACallerDoesNotRing() throws {
    let port = Bench.port()
    let (alice, bob) = (try user(), try user())
    let run = try Bench.run(
      ["listen", "--answer", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null"],
      environment: bob
    )
    #expect(run.wait(for: "registered"), "\(run.output)")
    func call() throws -> ProgramRun {
      let caller = try Bench.run(
        ["call", "sip:bob@127.0.0.1:\(port)", "--user", "alice", "--json", "--headset", "null"]
          + ["--duration", "1"],
        environment: alice
      )
      _ = caller.waitForExit()
      return caller
    }
    #expect(try call().printed("\"encrypted\":true"))
    #expect(run.wait(for: "\"event\":\"ended\""), "\(run.output)")
    let renewed = try Bench.run(["identity", "--renew"], environment: alice)
    #expect(renewed.waitForExit() == 0, "\(renewed.output)")
    let refused = try call()
    #expect(refused.waitForExit() == 1, "\(refused.output)")
    // The user sees why, and what to do.
    #expect(run.wait(for: "sidetone peers forget"), "\(run.output)")
    #expect(run.output.components(separatedBy: "\"event\":\"incoming\"").count == 2)
    run.signal(SIGKILL)
  }

  /// The server says that a call came, not from whom: the From is anybody's to write.
  @Test func callerWithoutTheServersWordIsNotRemembered() throws {
    guard SIPServer.kamailio != nil else {
      return Bench.skip("kamailio kamailio-tls-modules")
    }
    for (definitions, isRemembered) in [([], false), (["ASSERTED"], true)] {
      let server = try SIPServer(definitions: definitions)
      let listener = try server.listen(as: "bob", ["--answer", "--once", "--headset", "null"])
      let caller = try Bench.run(
        ["call", "bob", "--json", "--headset", "null", "--duration", "1"],
        environment: server.account("alice")
      )
      #expect(caller.waitForExit() == 0, "\(caller.output)")
      #expect(listener.waitForExit() == 0, "\(listener.output)")
      #expect(listener.printed("\"encrypted\":true"), "\(listener.output)")
      let peers = try Bench.run(["peers"], environment: server.account("bob"))
      #expect(peers.waitForExit() == 0, "\(peers.output)")
      #expect(!peers.printed("alice@localhost"), "\(peers.output)")
      #expect(peers.printed("boss@localhost") == isRemembered, "\(peers.output)")
    }
  }
}
