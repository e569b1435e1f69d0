import Foundation
import ProgramRig
import Testing

/// A caller cannot make a Sidetone that answers by itself flood a stranger.
@Suite(.waiting, .serialized)
struct StrangerTests {
  /// Profile of the media that the INVITE describes.
  enum Media: String, CaseIterable {
    case open = "RTP/AVP"
    case encrypted = "UDP/TLS/RTP/SAVPF"

    var lines: [String] {
      guard self == .encrypted else { return [] }
      let fingerprint = [String](repeating: "AB", count: 32).joined(separator: ":")
      return ["a=setup:actpass", "a=rtcp-mux", "a=fingerprint:sha-256 \(fingerprint)"]
    }
  }

  /// An INVITE whose responses go to the port `answers`, and whose media go to a victim's on
  /// another host.
  private static func invite(_ media: Media, answers: UInt16, victim: UInt16) -> String {
    let description = [
      "v=0", "o=- 1 1 IN IP4 127.0.0.77", "s=-", "c=IN IP4 127.0.0.77", "t=0 0",
      "m=audio \(victim) \(media.rawValue) 96", "a=rtpmap:96 opus/48000/2",
    ]
    let body = (description + media.lines + [""]).joined(separator: "\r\n")
    return request("INVITE", to: "<sip:bob@127.0.0.1>", answers: answers, body)
  }

  private static func request(
    _ method: String,
    to: String,
    answers: UInt16,
    _ body: String = ""
  ) -> String {
    [
      "\(method) sip:bob@127.0.0.1 SIP/2.0",
      "Via: SIP/2.0/UDP 127.0.0.1:\(answers);branch=z9hG4bK\(method)\(answers)",
      "From: <sip:mallory@127.0.0.1:\(answers)>;tag=1", "To: \(to)", "Call-ID: \(answers)",
      "CSeq: 1 \(method)", "Contact: <sip:mallory@127.0.0.1:\(answers)>", "Max-Forwards: 70",
      "Content-Type: application/sdp", "Content-Length: \(body.utf8.count)", "", body,
    ]
    .joined(separator: "\r\n")
  }

  /// A call of 600 bytes brings a stranger 25 datagrams at most, from a phone or an echo.
  @Test(arguments: Media.allCases, [[], ["--echo"]])
  func strangerWhoseAddressIsNamedIsSpared(media: Media, options: [String]) throws {
    let port = Bench.port()
    let phone = try Bench.run(
      ["listen", "--answer", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null"]
        + options
    )
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    try Bench.withBoundSocket { answers, caller in
      try Bench.withBoundSocket(at: "127.0.0.77") { victim, descriptor in
        let invite = Self.invite(media, answers: answers, victim: victim)
        #expect(LoopbackSocket.send(Array(invite.utf8), to: UInt16(port), from: caller))
        // The caller does all that a caller does, but for the voice.
        let said = LoopbackSocket.datagrams(at: caller, within: 1)
          .map { String(decoding: $0, as: UTF8.self) }
        let answer = try #require(said.first { $0.contains(" 200 OK") }, "\(phone.output)")
        let to = try #require(answer.firstMatch(of: /\r\nTo: ([^\r]+)/)?.1)
        let ack = Self.request("ACK", to: String(to), answers: answers)
        #expect(LoopbackSocket.send(Array(ack.utf8), to: UInt16(port), from: caller))
        let got = LoopbackSocket.datagrams(at: descriptor, within: 4)
        #expect(got.count <= 25, "\(got.count) datagrams: \(phone.output)")
        // An echo has nothing to say back, and a phone says its first words.
        if media == .open { #expect(options.isEmpty == (got.count > 15)) }
      }
    }
  }

  private func waitingPhone() throws -> (phone: ProgramRun, port: Int) {
    let port = Bench.port()
    let phone = try Bench.run([
      "listen", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null",
    ])
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    return (phone, port)
  }

  /// One small answer for one request, and none for STUN (RFC 5389), whose answers are longer.
  @Test func answersAreFewAndSmall() throws {
    let (phone, port) = try waitingPhone()
    defer { withExtendedLifetime(phone) {} }
    try Bench.withBoundSocket { answers, caller in
      let options = Self.request("OPTIONS", to: "<sip:bob@127.0.0.1>", answers: answers)
      // Of a call that is not there.
      let late = Self.request("INVITE", to: "<sip:bob@127.0.0.1>;tag=2", answers: answers)
      let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]
      let binding = [0, 1, 0, 0] + cookie + [UInt8](repeating: 7, count: 12)
      let requests = [
        (Array(options.utf8), 1), (Array(late.utf8), 1), (binding, 0), ([UInt8](1...200), 0),
      ]
      for (request, count) in requests {
        #expect(LoopbackSocket.send(request, to: UInt16(port), from: caller))
        let answers = LoopbackSocket.datagrams(at: caller, within: 1)
        #expect(answers.count == count)
        #expect(answers.allSatisfy { $0.count <= 2 * request.count })
      }
    }
  }

  /// The `maddr` parameter of a Via, meant for multicast, does not direct answers to another host.
  @Test func answersGoNowhereElse() throws {
    let (phone, port) = try waitingPhone()
    defer { withExtendedLifetime(phone) {} }
    try Bench.withBoundSocket { answers, caller in
      try Bench.withBoundSocket(at: "127.0.0.77") { victim, descriptor in
        for parameter in [";maddr=127.0.0.77", ""] {
          let request = Self.request("OPTIONS", to: "<sip:bob@127.0.0.1>", answers: answers)
            .replacing(":\(answers);branch=", with: ":\(victim)\(parameter);rport;branch=x")
          #expect(LoopbackSocket.send(Array(request.utf8), to: UInt16(port), from: caller))
          let isAnswered = LoopbackSocket.datagram(at: caller, within: 1) != nil
          #expect(isAnswered == parameter.isEmpty)
        }
        #expect(LoopbackSocket.datagrams(at: descriptor, within: 0.2).isEmpty)
      }
    }
  }
}
