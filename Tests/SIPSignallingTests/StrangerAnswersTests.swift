import CLibre
import Glibc
import Testing

@testable import SIPSignalling

/// Answers of a user agent to strangers, over real sockets.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct StrangerAnswersTests {
  private static let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 10)

  private func agent(_ user: String) async throws -> (UserAgent, port: UInt16) {
    let agent = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: user))
    let address = try #require(await agent.start().first)
    return (agent, try #require(address.split(separator: ":").last.flatMap { UInt16($0) }))
  }

  /// A request outside of calls, or in an unknown dialog if there is a `tag`.
  private func request(
    _ method: String,
    _ number: Int,
    from host: String,
    tag: String = "",
    headers: [String] = []
  ) -> String {
    let lines = [
      "\(method) sip:bob@127.0.0.1 SIP/2.0",
      "Via: SIP/2.0/UDP \(host);rport;branch=z9hG4bK\(method)\(number)",
      "From: <sip:mallory@\(host)>;tag=\(number)", "To: <sip:bob@127.0.0.1>\(tag)",
      "Call-ID: \(method)-\(number)", "CSeq: 1 \(method)", "Contact: <sip:mallory@\(host)>",
      "Max-Forwards: 70", "Content-Length: 0",
    ]
    return (lines + headers + ["", ""]).joined(separator: "\r\n")
  }

  /// `Retry-After` is the time until the next call is admitted: one second for a single host.
  @Test func callsBeyondTheRateGet503WithTheTimeUntilTheNext() async throws {
    let (bob, port) = try await agent("bob")
    let stranger = try LoopbackPeer(at: "127.0.0.73")
    var answers: [String] = []
    for number in 0..<40 {
      // It names a call that is not there, so that none of them rings.
      let replaced = ["Replaces: nothing;to-tag=1;from-tag=2"]
      let invite = request("INVITE", number, from: stranger.host, headers: replaced)
      stranger.send(invite, to: port)
      answers.append(try #require(stranger.receive()))
    }
    #expect(answers.prefix(10).allSatisfy { $0.hasPrefix("SIP/2.0 481 ") })
    let refusals = answers.filter { $0.hasPrefix("SIP/2.0 503 ") }
    #expect(!refusals.isEmpty && answers.count { $0.hasPrefix("SIP/2.0 481 ") } < 20)
    #expect(refusals.allSatisfy { $0.contains("\r\nRetry-After: 1\r\n") }, "\(refusals)")
    await bob.stop()
  }

  /// Strangers get 200 answers at once, then 100 a second, whatever the method; a call goes on
  /// meanwhile.
  @Test(arguments: ["OPTIONS", "BYE", "INFO", "INVITE", "NOTIFY", "REFER", "SUBSCRIBE", "UPDATE"])
  func answersOutsideOfCallsAreLimited(method: String) async throws {
    let (bob, port) = try await agent("bob")
    let (alice, _) = try await agent("alice")
    var events = bob.events.makeAsyncIterator()
    let outgoing = try await alice.invite("sip:bob@127.0.0.1:\(port)", offer: Self.offer)
    guard case .incoming(let incoming, _) = await events.next() else {
      Issue.record("no call came")
      return
    }
    #expect(await bob.answer(incoming, offer: Self.offer))
    guard case .media = await events.next(), case .established = await events.next() else {
      Issue.record("no call")
      return
    }

    let stranger = try LoopbackPeer(at: "127.0.0.74")
    let tag = method == "OPTIONS" ? "" : ";tag=9"
    let begin = ContinuousClock.now
    // One after the other, so that none is lost on the way.
    for number in 0..<200 {
      stranger.send(request(method, number, from: stranger.host, tag: tag), to: port)
      #expect(stranger.receive() != nil, "\(number)")
    }
    var answers = 200
    for number in 200..<1_500 {
      stranger.send(request(method, number, from: stranger.host, tag: tag), to: port)
      // What comes back is not to fill the socket.
      while number % 20 == 19, stranger.receive(within: 0) != nil { answers += 1 }
    }
    while stranger.receive(within: 200) != nil { answers += 1 }
    let seconds = (ContinuousClock.now - begin) / .seconds(1)
    #expect(Double(answers) <= 201 + 100 * seconds, "\(answers)")

    await alice.setHeld(outgoing, false)
    guard case .media(incoming, _) = await events.next() else {
      Issue.record("the call did not go on")
      return
    }
    await alice.hangUp(outgoing)
    #expect(await events.next() == .ended(incoming, .remoteHangUp))
    await alice.stop()
    await bob.stop()
  }
}

/// Messages that arrive in several segments.
@Suite(.timeLimit(.minutes(10)))
struct SegmentTests {
  /// A message whose headers arrive at once, and its body byte by byte, is answered once it is
  /// complete.
  ///
  /// So is the next message of the connection.
  @Test func bodyMayComeByteByByte() async throws {
    let bob = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "bob"))
    _ = try await bob.start()
    let peer = try LoopbackPeer(at: "127.0.0.78", SOCK_STREAM)
    peer.connect(to: await bob.port(of: .tcp))
    re_hasten(peer.descriptor)
    for number in 1...2 {
      let body = String(repeating: "x", count: 300)
      let head = [
        "OPTIONS sip:bob@127.0.0.1 SIP/2.0",
        "Via: SIP/2.0/TCP 127.0.0.78;branch=z9hG4bKsegment\(number);rport",
        "From: <sip:carol@127.0.0.78>;tag=1", "To: <sip:bob@127.0.0.1>",
        "Call-ID: segments-\(number)", "CSeq: \(number) OPTIONS", "Max-Forwards: 70",
        "Content-Type: text/plain", "Content-Length: \(body.utf8.count)", "", "",
      ]
      peer.send(head.joined(separator: "\r\n"))
      for letter in body.dropLast() { peer.send(String(letter)) }
      #expect(peer.receive(within: 50) == nil)
      peer.send("x")
      let answer = try #require(peer.receive())
      #expect(answer.contains("CSeq: \(number) OPTIONS"), "\(answer)")
    }
    await bob.stop()
  }
}
