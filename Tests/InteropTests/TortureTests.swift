import Foundation
import ProgramRig
import Testing

/// The torture tests of RFC 4475 and RFC 5118, against the program.
@Suite(.waiting, .serialized)
struct TortureTests {
  /// Transport that carries the messages.
  enum Carrier: String, CaseIterable {
    case udp, tcp, tls
  }

  private static func byTLS(_ message: TortureMessage, _ number: Int, to port: UInt16) throws
    -> Int?
  {
    let openssl = try #require(Bench.find("openssl"), "install openssl")
    let client = try ProgramRun(
      openssl,
      ["s_client", "-quiet", "-connect", "127.0.0.1:\(port)", "-bind", "127.0.1.\(number + 1):0"]
    )
    let question = SIPQuestion(by: "tls", from: 9)
    client.send(message.bytes + question.text.utf8)
    defer { client.signal(SIGKILL) }
    // Where silence is right as well, it is not waited for any longer.
    let seconds = message.allows(nil, byConnection: true) ? 0.5 : Patience.limit
    _ = Patience.waits(seconds: seconds) {
      let answers = client.output
      return question.isAnswered(in: answers)
        || TortureMessage.firstCode(in: answers, besides: question) != nil
    }
    return TortureMessage.firstCode(in: client.output, besides: question)
  }

  /// The requests of a call, as phones send them.
  private static var requests: [String] {
    let description =
      "v=0\r\no=- 1 1 IN IP4 127.0.1.1\r\ns=-\r\nc=IN IP4 127.0.1.1\r\nt=0 0\r\n"
      + "m=audio 9 RTP/AVP 8\r\na=sendrecv\r\n"
    let methods = [
      "INVITE", "ACK", "BYE", "CANCEL", "OPTIONS", "UPDATE", "INFO", "REFER", "NOTIFY", "REGISTER",
    ]
    return methods.map { method in
      let body = method == "INVITE" ? description : ""
      return [
        "\(method) sip:bob@127.0.0.1 SIP/2.0",
        "Via: SIP/2.0/UDP 127.0.1.1:5060;branch=z9hG4bK\(method);rport", "Max-Forwards: 70",
        "From: \"Alice\" <sip:alice@127.0.1.1>;tag=1", "To: <sip:bob@127.0.0.1>;tag=2",
        "Call-ID: \(method)@127.0.1.1", "CSeq: 1 \(method)", "Contact: <sip:alice@127.0.1.1:5060>",
        "Record-Route: <sip:proxy@127.0.1.1;lr>", "Supported: timer, replaces",
        "Session-Expires: 90;refresher=uac", "Refer-To: <sip:carol@127.0.1.1>",
        "Replaces: a@b;to-tag=1;from-tag=2", "Event: refer", "Allow: INVITE, ACK, BYE",
        "Content-Type: application/sdp", "Content-Length: \(body.utf8.count)", "", body,
      ]
      .joined(separator: "\r\n")
    }
  }

  /// Each request is cut off at each byte, and has each header doubled, emptied, left out and 60 kB
  /// long.
  @Test func damagedMessagesOfACallAreSurvived() throws {
    let port = UInt16(Bench.port())
    let phone = try Bench.run(
      ["listen", "--answer", "--echo", "--json", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    try Bench.withBoundSocket(at: "127.0.1.1") { own, descriptor in
      var sent = 0
      func send(_ bytes: [UInt8]) {
        if LoopbackSocket.send(bytes, to: port, from: descriptor) { sent += 1 }
        // What comes back is not looked at, and is not to fill the socket.
        if sent % 16 == 0 { _ = LoopbackSocket.datagrams(at: descriptor, within: 0) }
      }
      for request in Self.requests {
        let damages = MessageDamage.cuts(of: request) + MessageDamage.headers(of: request)
        for damage in damages { send(damage.applied(to: request)) }
      }
      #expect(sent > 5_000)
      _ = LoopbackSocket.datagrams(at: descriptor, within: 0.2)
      let question = SIPQuestion(by: "udp", from: own)
      #expect(LoopbackSocket.send(Array(question.text.utf8), to: port, from: descriptor))
      let last = try #require(LoopbackSocket.datagram(at: descriptor, within: 5), "\(phone.output)")
      #expect(String(decoding: last, as: UTF8.self).hasPrefix("SIP/2.0 200"))
    }
    let caller = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--duration", "1", "--json"]
    )
    #expect(caller.waitForExit() == 0, "\(caller.output) \(phone.output)")
  }

  /// Long headers are sent over TCP, since libre reads 8 kB of a datagram.
  @Test func longHeadersAreSurvived() throws {
    let port = UInt16(Bench.port())
    let phone = try Bench.run(
      ["listen", "--answer", "--echo", "--json", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    let request = Self.requests[0]
    var count = 0
    for (place, damage) in MessageDamage.headers(of: request).enumerated() {
      guard case .header(_, .lengthened) = damage else { continue }
      let bytes = damage.applied(to: request)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      try #require(LoopbackSocket.bind(descriptor, to: 0, at: "127.0.2.\(place)"))
      LoopbackSocket.connect(descriptor, to: port)
      // It may end the connection before it has all.
      if unsafe send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) > 8_192 {
        count += 1
      }
      _ = LoopbackSocket.datagram(at: descriptor, within: 0.1)
    }
    #expect(count > 10)
    let caller = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--duration", "1", "--json"]
    )
    #expect(caller.waitForExit() == 0, "\(caller.output) \(phone.output)")
    // Nothing is printed about what makes no sense.
    let printed = phone.output.split(separator: "\n")
    #expect(printed.allSatisfy { $0.hasPrefix("{") }, "\(phone.output)")
  }

  @Test(arguments: ["rfc4475", "rfc5118"], Carrier.allCases)
  func messagesAreAnsweredAsTheStandardSays(standard: String, carrier: Carrier) throws {
    let messages = TortureMessage.all(of: standard)
    #expect(messages.count == (standard == "rfc4475" ? 49 : 12))
    for (number, message) in messages.enumerated() {
      // Several messages are of the same transaction.
      let port = Bench.port()
      let phone = try Bench.run(
        ["listen", "--answer", "--echo", "--json", "--listen", "127.0.0.1:\(port)"]
      )
      #expect(phone.wait(for: "registered"), "\(phone.output)")
      let host = "127.0.1.\(number + 1)"
      let code: Int? =
        switch carrier {
        case .udp: try message.answerByUDP(from: host, to: UInt16(port))
        case .tcp: try message.answerByTCP(from: host, to: UInt16(port))
        case .tls: try Self.byTLS(message, number, to: UInt16(port + 1))
        }
      let isRight = message.allows(code, byConnection: carrier != .udp)
      #expect(isRight, "\(message): \(code.map(String.init) ?? "none")")
      #expect(phone.waitForExit(seconds: 0) == nil, "it has ended after \(message)")
      phone.signal(SIGKILL)
    }
  }
}
