import Foundation
import ProgramRig
import Testing

/// The torture tests of RFC 4475 and RFC 5118, against the program.
@Suite(.waiting, .serialized)
struct TortureTests {
  /// How messages are carried to it.
  enum Carrier: String, CaseIterable {
    case udp, tcp, tls
  }

  /// Ports of the messages' Via headers, where answers by UDP go.
  private static let answerPorts: [UInt16] = [5_060, 5_050, 6_050, 19_823, 9, 5_061]

  /// A question whose answer comes after that to what was sent before it.
  private static func fence(_ number: Int, port: UInt16, _ carrier: Carrier) -> String {
    let transport = carrier.rawValue.uppercased()
    return [
      "OPTIONS sip:bob@127.0.0.1 SIP/2.0",
      "Via: SIP/2.0/\(transport) 127.0.0.1:\(port);branch=z9hG4bKfence\(number)",
      "From: <sip:fence@127.0.0.1>;tag=1", "To: <sip:bob@127.0.0.1>", "Call-ID: fence-\(number)",
      "CSeq: 1 OPTIONS", "Max-Forwards: 70", "Content-Length: 0", "", "",
    ]
    .joined(separator: "\r\n")
  }

  /// The first answer that is not 100, nil if there was none.
  private static func code(in answers: [String]) -> Int? {
    answers.lazy.filter { !$0.contains("Call-ID: fence") }
      .compactMap { $0.firstMatch(of: /^SIP\/2\.0 ([0-9]{3})/).flatMap { Int($0.1) } }
      .first { $0 > 100 }
  }

  private static func byUDP(_ message: TortureMessage, _ number: Int, to port: UInt16) throws
    -> Int?
  {
    let host = "127.0.1.\(number + 1)"
    let sockets = try answerPorts.map { port in
      let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
      try #require(LoopbackSocket.bind(descriptor, to: port, at: host), "port \(port) at \(host)")
      return descriptor
    }
    defer { for descriptor in sockets { close(descriptor) } }
    _ = LoopbackSocket.send(message.bytes, to: port, from: sockets[0])
    _ = LoopbackSocket.send(
      Array(fence(number, port: 5_060, .udp).utf8),
      to: port,
      from: sockets[0]
    )
    var answers: [String] = []
    while true {
      let next = try #require(Bench.datagram(at: sockets[0], within: 5), "the program is silent")
      let text = String(decoding: next, as: UTF8.self)
      if text.contains("Call-ID: fence-\(number)\r") { break }
      answers.append(text)
    }
    for descriptor in sockets.dropFirst() {
      answers += Bench.datagrams(at: descriptor, within: 0).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    return code(in: answers)
  }

  private static func byTCP(_ message: TortureMessage, _ number: Int, to port: UInt16) throws
    -> Int?
  {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    try #require(LoopbackSocket.bind(descriptor, to: 0, at: "127.0.1.\(number + 1)"))
    LoopbackSocket.connect(descriptor, to: port)
    let bytes = message.bytes + fence(number, port: 9, .tcp).utf8
    try #require(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
    // What cannot be taken apart ends the connection, or is waited for.
    var text = ""
    while let next = Bench.datagram(at: descriptor, within: 0.5), !next.isEmpty {
      text += String(decoding: next, as: UTF8.self)
      if text.contains("Call-ID: fence-\(number)\r") { break }
    }
    let starts = text.components(separatedBy: "SIP/2.0 ").dropFirst().map { "SIP/2.0 " + $0 }
    return code(in: starts)
  }

  private static func byTLS(_ message: TortureMessage, _ number: Int, to port: UInt16) throws
    -> Int?
  {
    let openssl = try #require(Bench.find("openssl"), "install openssl")
    let client = try ProgramRun(
      openssl,
      ["s_client", "-quiet", "-connect", "127.0.0.1:\(port)", "-bind", "127.0.1.\(number + 1):0"]
    )
    client.send(message.bytes + fence(number, port: 9, .tls).utf8)
    _ = client.wait(for: "Call-ID: fence-\(number)", seconds: 0.5)
    let starts = client.output.components(separatedBy: "SIP/2.0 ").dropFirst()
    client.signal(SIGKILL)
    return code(in: starts.map { "SIP/2.0 " + $0 })
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

  /// Each cut off at each byte, and with each header doubled, emptied, left out and 60 kB long.
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
        if sent % 16 == 0 { _ = Bench.datagrams(at: descriptor, within: 0) }
      }
      for request in Self.requests {
        for length in 0..<request.utf8.count { send(Array(request.utf8.prefix(length))) }
        let lines = request.components(separatedBy: "\r\n")
        for (place, line) in lines.enumerated() where place > 0 && line.contains(": ") {
          let name = line.prefix { $0 != ":" }
          let long = String(repeating: "x", count: 60_000)
          for changed in [[line, line], ["\(name):"], [], ["\(name): \(long)"], [line + long]] {
            let damaged = lines[..<place] + changed + lines[(place + 1)...]
            send(Array(damaged.joined(separator: "\r\n").utf8))
          }
        }
      }
      #expect(sent > 5_000)
      _ = Bench.datagrams(at: descriptor, within: 0.2)
      #expect(
        LoopbackSocket.send(Array(Self.fence(0, port: own, .udp).utf8), to: port, from: descriptor)
      )
      let last = try #require(Bench.datagram(at: descriptor, within: 5), "\(phone.output)")
      #expect(String(decoding: last, as: UTF8.self).hasPrefix("SIP/2.0 200"))
    }
    let caller = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--duration", "1", "--json"]
    )
    #expect(caller.waitForExit() == 0, "\(caller.output) \(phone.output)")
  }

  /// By a connection: of a datagram libre reads 8 kB.
  @Test func longHeadersAreSurvived() throws {
    let port = UInt16(Bench.port())
    let phone = try Bench.run(
      ["listen", "--answer", "--echo", "--json", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    let lines = Self.requests[0].components(separatedBy: "\r\n")
    let long = String(repeating: "x", count: 60_000)
    var count = 0
    for (place, line) in lines.enumerated() where place > 0 && line.contains(": ") {
      let changed = lines[..<place] + [line + long] + lines[(place + 1)...]
      let bytes = Array(changed.joined(separator: "\r\n").utf8)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      try #require(LoopbackSocket.bind(descriptor, to: 0, at: "127.0.2.\(place)"))
      LoopbackSocket.connect(descriptor, to: port)
      // It may end the connection before it has all.
      if unsafe send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) > 8_192 {
        count += 1
      }
      _ = Bench.datagram(at: descriptor, within: 0.1)
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
      let code: Int? =
        switch carrier {
        case .udp: try Self.byUDP(message, number, to: UInt16(port))
        case .tcp: try Self.byTCP(message, number, to: UInt16(port))
        case .tls: try Self.byTLS(message, number, to: UInt16(port + 1))
        }
      let mayBeSilent = message.mayBeIgnored || carrier != .udp && message.mayWait
      let isRight = code.map(message.codes.contains) ?? mayBeSilent
      #expect(isRight, "\(message): \(code.map(String.init) ?? "none")")
      #expect(phone.waitForExit(seconds: 0) == nil, "it has ended after \(message)")
      phone.signal(SIGKILL)
    }
  }
}
