import CallSecurity
import MediaCore
import ProgramRig
import Testing

@testable import SIPSignalling

/// Messages of an attacker who has read the signalling of a call and sends from elsewhere, over
/// real sockets.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TakeoverTests {
  private static let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 20)

  private func agent(_ user: String) -> UserAgent {
    UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: user))
  }

  /// A request in the dialog that `peer` has begun, which names `contact` as its address.
  private func request(
    _ method: String,
    _ number: Int,
    from peer: LoopbackPeer,
    callID: String = "takeover",
    tag: String = "",
    contact: String,
    body: String = ""
  ) -> String {
    let lines = [
      "\(method) sip:bob@127.0.0.1 SIP/2.0",
      "Via: SIP/2.0/UDP \(peer.host);rport;branch=z9hG4bK\(method)\(number)\(peer.host)\(callID)",
      "From: <sip:carol@127.0.0.75>;tag=1", "To: <sip:bob@127.0.0.1>\(tag)",
      "Call-ID: \(callID)", "CSeq: \(number) \(method)", "Contact: <sip:carol@\(contact)>",
      "Max-Forwards: 70", "Content-Length: \(body.utf8.count)",
    ]
    let type = body.isEmpty ? [] : ["Content-Type: application/sdp"]
    return (lines + type + ["", body]).joined(separator: "\r\n")
  }

  private static let description = [
    "v=0", "o=- 1 1 IN IP4 127.0.0.74", "s=-", "c=IN IP4 127.0.0.74", "t=0 0",
    "m=audio 4002 RTP/AVP 8", "a=rtpmap:8 PCMA/8000", "",
  ]
  .joined(separator: "\r\n")

  /// A call from `carol` that names `contact`, once it is established, and the tag of its callee.
  private func establishedCall(
    from carol: LoopbackPeer,
    to bob: UserAgent,
    _ events: inout AsyncStream<SIPEvent>.Iterator,
    contact: String
  ) async throws -> String {
    let port = await bob.port(of: .udp)
    let invite = request("INVITE", 1, from: carol, contact: contact, body: Self.description)
    carol.send(invite, to: port)
    guard case .incoming(let call, _) = await events.next() else { throw RigError("no call came") }
    #expect(await bob.answer(call, offer: Self.offer))
    let tag = ";tag=\(try self.tag(at: carol))"
    carol.send(request("ACK", 1, from: carol, tag: tag, contact: contact), to: port)
    return tag
  }

  // An answer to a request before it may come once more.
  private func okay(to request: String, at peer: LoopbackPeer) throws -> String {
    while let text = peer.receive() {
      if text.hasPrefix("SIP/2.0 200"), text.contains("CSeq: \(request)\r\n") { return text }
    }
    throw RigError("no answer")
  }

  private func end(_ events: inout AsyncStream<SIPEvent>.Iterator) async -> SIPEndReason? {
    while let event = await events.next() {
      if case .ended(_, let reason) = event { return reason }
    }
    return nil
  }

  /// The Contact names a proxy, a private address, or a host by name: the first message shows the
  /// far side's address.
  @Test(arguments: ["127.0.0.75", "carol.invalid", "127.0.0.74"])
  func callEndsByNobodyElse(contact: String) async throws {
    let bob = agent("bob")
    _ = try await bob.start()
    let port = await bob.port(of: .udp)
    var events = bob.events.makeAsyncIterator()
    let carol = try LoopbackPeer(at: "127.0.0.74")
    let mallory = try LoopbackPeer(at: "127.0.0.76")
    let tag = try await establishedCall(from: carol, to: bob, &events, contact: contact)
    for method in ["BYE", "INVITE", "INFO"] {
      let body = method == "INVITE" ? Self.description : ""
      let forged = request(method, 2, from: mallory, tag: tag, contact: contact, body: body)
      mallory.send(forged, to: port)
    }
    // What is asked behind them is answered first.
    mallory.send(
      request("OPTIONS", 4, from: mallory, callID: "question", contact: contact),
      to: port
    )
    let first = try #require(mallory.receive())
    #expect(first.contains("Call-ID: question"), "\(first)")
    carol.send(request("BYE", 3, from: carol, tag: tag, contact: contact), to: port)
    #expect(await end(&events) == .remoteHangUp)
    await bob.stop()
  }

  /// RFC 3261 section 12.2.2: a re-INVITE or an UPDATE names where the far side is from then on.
  @Test(arguments: ["INVITE", "UPDATE"])
  func farSideThatHasNamedAnotherAddressIsHeardFromThere(method: String) async throws {
    let bob = agent("bob")
    _ = try await bob.start()
    let port = await bob.port(of: .udp)
    var events = bob.events.makeAsyncIterator()
    let carol = try LoopbackPeer(at: "127.0.0.74")
    let moved = try LoopbackPeer(at: "127.0.0.77")
    let tag = try await establishedCall(from: carol, to: bob, &events, contact: carol.host)
    let body = method == "INVITE" ? Self.description : ""
    let contact = "\(moved.host):\(LoopbackSocket.port(of: moved.descriptor))"
    carol.send(request(method, 2, from: carol, tag: tag, contact: contact, body: body), to: port)
    _ = try okay(to: "2 \(method)", at: carol)
    if method == "INVITE" {
      carol.send(request("ACK", 2, from: carol, tag: tag, contact: contact), to: port)
    }
    moved.send(request("BYE", 3, from: moved, tag: tag, contact: contact), to: port)
    #expect(await end(&events) == .remoteHangUp)
    await bob.stop()
  }

  /// RFC 6665 section 4.2.1.1: a subscription to events that this side has not is refused, and the
  /// call goes on.
  @Test func subscriptionInTheDialogIsRefused() async throws {
    let bob = agent("bob")
    _ = try await bob.start()
    let port = await bob.port(of: .udp)
    var events = bob.events.makeAsyncIterator()
    let carol = try LoopbackPeer(at: "127.0.0.74")
    let tag = try await establishedCall(from: carol, to: bob, &events, contact: carol.host)
    let subscription = request("SUBSCRIBE", 2, from: carol, tag: tag, contact: carol.host)
      .replacing("Max-Forwards", with: "Event: kpml;leg=local\r\nMax-Forwards")
    carol.send(subscription, to: port)
    var answer: String?
    while answer == nil, let text = carol.receive() {
      answer = text.contains("CSeq: 2 SUBSCRIBE") ? text : nil
    }
    let refusal = try #require(answer)
    #expect(refusal.hasPrefix("SIP/2.0 489 Bad Event") && refusal.contains("Allow-Events: refer"))
    carol.send(request("BYE", 3, from: carol, tag: tag, contact: carol.host), to: port)
    #expect(await end(&events) == .remoteHangUp)
    await bob.stop()
  }

  private func addAccount(at server: FarSide, to agent: UserAgent) async throws -> SIPAccount {
    let address = "127.0.0.1:\(server.port)"
    var account = try SIPAccount("alice@example.org", server: address, password: "secret")
    account.connection = .udp
    try await agent.add(account, identity: Identity.make())
    return account
  }

  /// Only the server's own address and port are the account's.
  @Test func serverIsItsPortToo() async throws {
    let alice = agent("alice")
    _ = try await alice.start()
    var events = alice.events.makeAsyncIterator()
    let server = try FarSide(.udp)
    let account = try await addAccount(at: server, to: alice)
    try server.register()
    let stranger = try LoopbackPeer(at: "127.0.0.1")
    let invite = request("INVITE", 1, from: stranger, contact: "127.0.0.1", body: Self.description)
    stranger.send(invite, to: server.callerPort)
    // A number alone takes no caller's place, whose record is found by the address.
    let numbered = invite.replacing(
      "Max-Forwards",
      with: "P-Asserted-Identity: <tel:+49301>\r\nMax-Forwards"
    )
    try server.send(numbered.replacing("takeover", with: "by-server"))
    var accounts: [String?] = []
    while accounts.count < 2, let event = await events.next() {
      guard case .incoming(_, let caller) = event else { continue }
      accounts.append(caller.account)
      #expect(caller.address == "sip:carol@127.0.0.75")
    }
    #expect(accounts == [nil, account.address])
    await alice.stop()
  }

  /// A server that has transferred the call says who is there now; others say nothing of it.
  @Test(arguments: [true, false]) func serverRenamesTheFarSide(isByServer: Bool) async throws {
    let alice = agent("alice")
    _ = try await alice.start()
    var events = alice.events.makeAsyncIterator()
    let server = try FarSide(.udp)
    _ = try await addAccount(at: server, to: alice)
    let address = "127.0.0.1:\(server.port)"
    try server.register()
    let caller = try LoopbackPeer(at: "127.0.0.1")
    let port = isByServer ? server.callerPort : await alice.port(of: .udp)
    func send(_ method: String, _ number: Int, _ tag: String, body: String = "") throws {
      let text = request(method, number, from: caller, tag: tag, contact: address, body: body)
        .replacing("Max-Forwards", with: "P-Asserted-Identity: C. Roe <sip:roe@h>\r\nMax-Forwards")
      guard isByServer else { return caller.send(text, to: port) }
      try server.send(text.replacing("127.0.0.1;rport", with: "\(address);rport"))
    }
    try send("INVITE", 1, "", body: Self.description)
    var names: [String?] = []
    while let event = await events.next() {
      if case .renamed(_, let address, let name) = event { names += [address, name] }
      if case .ended = event { break }
      guard case .incoming(let call, _) = event else { continue }
      #expect(await alice.answer(call, offer: Self.offer))
      let taken = isByServer ? try server.tagOfTakenInvite() : try tag(at: caller)
      for (number, method) in [(1, "ACK"), (2, "UPDATE"), (3, "BYE")] {
        try send(method, number, ";tag=\(taken)")
      }
    }
    #expect(names == (isByServer ? ["sip:roe@h", "C. Roe"] : []))
    await alice.stop()
  }

  private func tag(at peer: LoopbackPeer) throws -> String {
    let answer = try okay(to: "1 INVITE", at: peer)
    return String(try #require(answer.firstMatch(of: /To: [^\r]*;tag=([^\r;]+)/)).1)
  }

  /// A caller behind the server asks for a digest of the account's password, and gets none.
  ///
  /// Only the server itself is answered, as a proxy.
  @Test(arguments: [
    ("401 Unauthorized", "WWW-", "example.org", false),
    ("407 Proxy Authentication Required", "Proxy-", "elsewhere.example", false),
    ("407 Proxy Authentication Required", "Proxy-", "example.org", true),
  ])
  func callerGetsNoDigest(
    status: String,
    prefix: String,
    realm: String,
    isAnswered: Bool
  ) async throws {
    let alice = agent("alice")
    _ = try await alice.start()
    var events = alice.events.makeAsyncIterator()
    let server = try FarSide(.udp)
    _ = try await addAccount(at: server, to: alice)
    let address = "127.0.0.1:\(server.port)"
    try server.register()
    let caller = try LoopbackPeer(at: "127.0.0.1")
    let invite = request("INVITE", 1, from: caller, contact: address, body: Self.description)
    let by = invite.replacing("127.0.0.1;rport", with: "\(address);rport")
    try server.send(by)
    while let event = await events.next() {
      guard case .incoming(let call, _) = event else { continue }
      #expect(await alice.answer(call, offer: Self.offer))
      let tag = ";tag=\(try server.tagOfTakenInvite())"
      try server.send(request("ACK", 1, from: caller, tag: tag, contact: address))
      server.answersGoodbyes = false
      await alice.hangUp(call)
      break
    }
    let goodbye = try server.request("BYE")
    let challenge =
      "\(prefix)Authenticate: Digest realm=\"\(realm)\", nonce=\"7\", qop=\"auth\", "
      + "algorithm=MD5"
    try server.send(server.response(status, to: goodbye, [challenge]))
    try server.settle()
    let others = server.requests.filter { !$0.hasPrefix("REGISTER ") }
    #expect(others.contains(goodbye))
    #expect(others.contains { $0.contains("Authorization: ") } == isAnswered)
    await alice.stop()
  }

  /// Each phone that answers too late gets its BYE, but only up to a limit, since anyone may send
  /// such answers.
  @Test func strayAnswersAreTakenWithinLimits() async throws {
    let alice = agent("alice")
    _ = try await alice.start()
    let far = try FarSide(.udp)
    _ = try await alice.invite(far.uri, offer: Self.offer)
    let invite = try far.request("INVITE")
    let taken = far.answer(.taken, to: invite)
    try far.send(taken)
    try far.request("ACK")
    try far.send(taken.replacing("tag=far", with: "tag=a").replacing("CSeq: ", with: "CSeq: 7"))
    try far.send(
      taken.replacing(";tag=far", with: ";tag=b").replacing(/From: (.*);tag=[^\r]*/) {
        "From: \($0.1);tag=c"
      }
    )
    try far.settle()
    #expect(!far.requests.contains { $0.hasPrefix("BYE ") })
    for number in 0..<100 {
      try far.send(taken.replacing("tag=far", with: "tag=fork\(number)"))
    }
    try far.settle()
    let tags = Set(
      far.requests.filter { $0.hasPrefix("BYE ") }.compactMap {
        $0.firstMatch(of: /To: [^\r]*;tag=(fork[0-9]+)/).map { String($0.1) }
      }
    )
    #expect(tags.count == 8)
    await alice.stop()
  }

  @Test func lateAnswersAreTakenForAWhile() {
    let start = MonotonicInstant(nanoseconds: 0)
    var forks = ForkedAnswers(to: 4, at: start)
    let answers = [("a", 4, 0), ("a", 4, 0), ("b", 5, 0), ("b", 4, 31), ("c", 4, 32)]
    let taken = answers.map { tag, sequence, seconds in
      forks.take(tag, answering: UInt32(sequence), at: start.advanced(by: .seconds(seconds)))
    }
    #expect(taken == [true, false, false, true, false], "libre repeats the BYE of the first")
  }

  /// A caller that names a call replaces it only if the name could not be read on its way.
  @Test(arguments: [SIPTransport.udp, .tls])
  func callInTheOpenIsTakenOverByNobody(transport: SIPTransport) async throws {
    let (alice, bob, mallory) = (agent("alice"), agent("bob"), agent("mallory"))
    for agent in [alice, bob, mallory] { _ = try await agent.start(securing: Identity.make()) }
    var events = bob.events.makeAsyncIterator()
    func call(
      _ agent: UserAgent,
      by transport: SIPTransport,
      replacing name: DialogName? = nil
    ) async throws -> SIPCallID {
      let destination = "127.0.0.1:\(await bob.port(of: transport))"
      let peer = SecurePeer(TLSExpectation(nil), host: nil, destination: destination)
      let uri = "sip:bob@\(destination);transport=\(transport.rawValue)"
      return try await agent.invite(
        uri,
        offer: Self.offer,
        expecting: transport == .tls ? peer : nil,
        target: TransferTarget(uri: uri, replacing: name)
      )
    }
    let first = try await call(alice, by: transport)
    while let event = await events.next() {
      if case .incoming(let incoming, _) = event {
        #expect(await bob.answer(incoming, offer: Self.offer))
      }
      if case .established = event { break }
    }
    let name = try #require(await alice.dialogName(of: first))
    var end: SIPEndReason?
    var replaced: ReplacedCall?
    var others = mallory.events.makeAsyncIterator()
    let second = try await call(mallory, by: .tls, replacing: name)
    if transport == .tls {
      while replaced == nil, let event = await events.next() {
        if case .incoming(_, let caller) = event { replaced = caller.replaced }
      }
    } else {
      while end == nil, let event = await others.next() {
        if case .ended(second, let reason) = event { end = reason }
      }
    }
    #expect((end == nil) == (transport == .tls) && (replaced?.isNameProven == true) == (end == nil))
    for agent in [alice, bob, mallory] { await agent.stop() }
  }
}
