import MediaCore
import ProgramRig
import RealTime
import Synchronization
import Testing

@testable import SIPSignalling

/// A far side whose Contact has a name that no name server knows.
@Suite(.timeLimit(.minutes(10)))
struct NamedHostsTests {
  /// The name is one of the hosts file; the goodbye arrives at its address.
  @Test func namesOfTheHostsFileAreReached() async throws {
    let bob = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "bob"))
    _ = try await bob.start()
    var events = bob.events.makeAsyncIterator()
    let carol = try LoopbackPeer(at: "127.0.0.1")
    let contact = "localhost:\(LoopbackSocket.port(of: carol.descriptor))"
    carol.send(invite(from: carol, contact: contact), to: await bob.port(of: .udp))
    guard case .incoming(let call, _) = await events.next() else { throw RigError("no call came") }
    let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 20)
    #expect(await bob.answer(call, offer: offer))
    while address(of: "LocalHost") != "127.0.0.1" { await Task.yield() }
    var answer = ""
    while !answer.hasPrefix("SIP/2.0 200") { answer = try #require(carol.receive()) }
    let to = try #require(answer.split(separator: "\r\n").first { $0.hasPrefix("To:") })
    let ack = request("ACK", from: carol, to: String(to), contact: contact)
    carol.send(ack, to: await bob.port(of: .udp))
    while let event = await events.next() {
      if case .established = event { break }
    }
    await bob.hangUp(call)
    var goodbye = ""
    while !goodbye.hasPrefix("BYE ") { goodbye = try #require(carol.receive()) }
    // The request itself still names the host as the far side does.
    #expect(goodbye.hasPrefix("BYE sip:carol@\(contact) SIP/2.0\r\n"))
    await bob.stop()
  }

  private func address(of name: String) -> String? {
    NamedHosts.shared.withLock { $0.address(of: name, hasPort: true, at: MonotonicClock.now()) }
  }

  private func seconds(_ count: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(count * 1e9))
  }

  /// A name whose addresses are others than the message's source is left to name servers, and so
  /// are addresses.
  @Test func namesOfOtherHostsAreNotTaken() {
    var hosts = NamedHosts()
    for name in ["", "127.0.0.9", "::1"] {
      let isBegun = hosts.begin(name, from: "127.0.0.9", at: seconds(1))
      #expect(!isBegun, "\(name)")
    }
    let isBegun = hosts.begin("carol.example", from: "192.0.2.9", at: seconds(1))
    hosts.note(["192.0.2.1"], of: "carol.example", from: "192.0.2.9", at: seconds(2))
    #expect(isBegun && hosts.address(of: "carol.example", hasPort: true, at: seconds(2)) == nil)
    let isSoon = hosts.begin("Carol.Example", from: "192.0.2.9", at: seconds(3))
    let isLater = hosts.begin("carol.example", from: "192.0.2.9", at: seconds(63))
    #expect(!isSoon && isLater)
  }

  /// A name of the net may have other servers than its address, and its address may change.
  @Test(arguments: [("pbx", true), ("pbx.local", true), ("pbx.example", false)])
  func addressesCountWhereNothingElseIsSaidAndForAWhile(name: String, isOfThisNet: Bool) {
    var hosts = NamedHosts()
    let isBegun = hosts.begin(name, from: "192.0.2.9", at: seconds(1))
    hosts.note(["192.0.2.1", "192.0.2.9"], of: name, from: "192.0.2.9", at: seconds(1))
    #expect(isBegun)
    #expect(hosts.address(of: name, hasPort: true, at: seconds(2)) == "192.0.2.9")
    #expect((hosts.address(of: name, hasPort: false, at: seconds(2)) != nil) == isOfThisNet)
    #expect(hosts.address(of: name, hasPort: true, at: seconds(602)) == nil)
  }

  /// Strangers name as many hosts as they like.
  @Test func lookUpsAreFewAtATime() {
    var hosts = NamedHosts()
    var begun = 0
    for number in 0..<1_000 {
      begun += hosts.begin("host\(number)", from: "192.0.2.9", at: seconds(1)) ? 1 : 0
    }
    #expect(begun == 8)
    for number in 0..<200 {
      hosts.note(
        ["192.0.2.9"],
        of: "host\(number)",
        from: "192.0.2.9",
        at: seconds(2 + Double(number))
      )
    }
    let kept = (0..<200).count {
      hosts.address(of: "host\($0)", hasPort: true, at: seconds(202)) != nil
    }
    #expect(kept == 64)
  }

  private func invite(from peer: LoopbackPeer, contact: String) -> String {
    let body = [
      "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
      "m=audio 4002 RTP/AVP 8", "a=rtpmap:8 PCMA/8000", "",
    ]
    .joined(separator: "\r\n")
    let to = "To: <sip:bob@127.0.0.1>"
    return request("INVITE", from: peer, to: to, contact: contact, body: body)
  }

  private func request(
    _ method: String,
    from peer: LoopbackPeer,
    to: String,
    contact: String,
    body: String = ""
  ) -> String {
    let port = LoopbackSocket.port(of: peer.descriptor)
    let lines = [
      "\(method) sip:bob@127.0.0.1 SIP/2.0",
      "Via: SIP/2.0/UDP \(peer.host):\(port);branch=z9hG4bKnamed\(method)",
      "From: <sip:carol@127.0.0.1>;tag=1", to, "Call-ID: named-host", "CSeq: 1 \(method)",
      "Contact: <sip:carol@\(contact)>", "Max-Forwards: 70",
      "Content-Length: \(body.utf8.count)",
    ]
    let type = body.isEmpty ? [] : ["Content-Type: application/sdp"]
    return (lines + type + ["", body]).joined(separator: "\r\n")
  }
}
