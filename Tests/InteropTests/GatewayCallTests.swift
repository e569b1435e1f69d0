import Foundation
import Glibc
import ProgramRig
import Testing

/// Calls of gateways and trunks, written by hand: what they put around a call that others do not.
@Suite(.waiting)
struct GatewayCallTests {
  /// A far side that sends requests from a socket, and reads the answers there.
  private final class Gateway {
    let descriptor: Int32
    let port: UInt16
    private let phone: UInt16
    private var sequence = 0
    private var phoneTag = ""

    init(calling phone: Int) throws {
      descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
      guard LoopbackSocket.bind(descriptor, to: 0) else { throw RigError("no socket") }
      port = LoopbackSocket.port(of: descriptor)
      self.phone = UInt16(phone)
    }

    deinit { close(descriptor) }

    /// A description of PCMU.
    var description: String { description(voiceAt: port + 2) }

    /// A description of PCMU that is received at a port.
    func description(voiceAt port: UInt16) -> String {
      [
        "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
        "m=audio \(port) RTP/AVP 0", "",
      ].joined(separator: "\r\n")
    }

    /// Sends a request, by default from the socket, and returns the final answer's text.
    ///
    /// `surplus` follows what `Content-Length` counts.
    func ask(
      _ method: String,
      _ headers: [String] = [],
      body: String = "",
      surplus: String = "",
      from other: Gateway? = nil
    ) -> String {
      sequence += 1
      let (sender, tag) = (other ?? self, phoneTag.isEmpty ? "" : ";tag=\(phoneTag)")
      let lines =
        [
          "\(method) sip:us@127.0.0.1:\(phone) SIP/2.0",
          "Via: SIP/2.0/UDP 127.0.0.1:\(sender.port);branch=z9hG4bK\(port)-\(sequence)",
          "From: <sip:gateway@127.0.0.1>;tag=7", "To: <sip:us@127.0.0.1>\(tag)",
          "Call-ID: gateway-\(port)", "CSeq: \(sequence) \(method)", "Max-Forwards: 70",
          "Contact: <sip:gateway@127.0.0.1:\(port)>",
        ] + headers + ["Content-Length: \(body.utf8.count)", "", body + surplus]
      let text = lines.joined(separator: "\r\n")
      _ = LoopbackSocket.send(Array(text.utf8), to: phone, from: sender.descriptor)
      guard method != "ACK" else { return "" }
      while let bytes = LoopbackSocket.datagram(at: sender.descriptor, within: Patience.limit) {
        let answer = String(decoding: bytes, as: UTF8.self)
        guard answer.hasPrefix("SIP/2.0 "), !answer.hasPrefix("SIP/2.0 1"),
          answer.contains("CSeq: \(sequence) \(method)")
        else { continue }
        let to = answer.split(separator: "\r\n").first { $0.hasPrefix("To:") }
        phoneTag = to?.components(separatedBy: "tag=").last ?? ""
        return answer
      }
      return ""
    }

    /// The next request from the phone whose method is this one; nil if none comes.
    func request(_ method: String) -> String? {
      while let bytes = LoopbackSocket.datagram(at: descriptor, within: Patience.limit) {
        let text = String(decoding: bytes, as: UTF8.self)
        if text.hasPrefix("\(method) ") { return text }
      }
      return nil
    }

    /// Sends an INVITE without waiting for its answer, and then a CANCEL.
    func ringAndCancel(_ headers: [String]) {
      for (method, extra) in [("INVITE", ["Content-Type: application/sdp"]), ("CANCEL", headers)] {
        let body = method == "INVITE" ? description : ""
        let lines =
          [
            "\(method) sip:us@127.0.0.1:\(phone) SIP/2.0",
            "Via: SIP/2.0/UDP 127.0.0.1:\(port);branch=z9hG4bK\(port)-ring",
            "From: <sip:gateway@127.0.0.1>;tag=7", "To: <sip:us@127.0.0.1>",
            "Call-ID: ring-\(port)", "CSeq: 1 \(method)", "Max-Forwards: 70",
            "Contact: <sip:gateway@127.0.0.1:\(port)>",
          ] + extra + ["Content-Length: \(body.utf8.count)", "", body]
        let text = lines.joined(separator: "\r\n")
        _ = LoopbackSocket.send(Array(text.utf8), to: phone, from: descriptor)
        // It rings before the CANCEL.
        guard method == "INVITE" else { return }
        _ = LoopbackSocket.datagram(at: descriptor, within: Patience.limit)
      }
    }

    /// Acknowledges the answer to the last request.
    func acknowledge(_ headers: [String] = [], body: String = "") {
      sequence -= 1
      _ = ask("ACK", headers, body: body)
    }
  }

  private func listener() throws -> (run: ProgramRun, port: Int) {
    let port = Bench.port()
    let run = try Bench.run([
      "listen", "--answer", "--listen", "127.0.0.1:\(port)", "--headset", "null", "--json",
      "--keys",
    ])
    #expect(run.wait(for: "registered"), "\(run.output)")
    return (run, port)
  }

  /// Another phone has answered; the telephone network's reason may stand first (RFC 3326).
  @Test(arguments: [
    ["Reason: Q.850;cause=26", "Reason: SIP;cause=200;text=\"Call completed elsewhere\""],
    ["Reason: Q.850;cause=26;text=\"x, y\", SIP;cause=200"], ["Reason: Q.850 ;cause=26"],
  ])
  func callThatWasAnsweredElsewhereIsNotMissed(reasons: [String]) throws {
    let port = Bench.port()
    let run = try Bench.run([
      "listen", "--listen", "127.0.0.1:\(port)", "--headset", "null", "--ringer", "none", "--json",
    ])
    #expect(run.wait(for: "registered"), "\(run.output)")
    try Gateway(calling: port).ringAndCancel(reasons)
    #expect(run.wait(for: "\"cause\":\"answeredElsewhere\""), "\(run.output)")
    run.signal(SIGKILL)
  }

  /// The far side never answers our hold: it hears the end of the call all the same.
  @Test func goodbyeDoesNotWaitForAnAnswerToAHold() throws {
    let (run, port) = try listener()
    let gateway = try Gateway(calling: port)
    let answer = gateway.ask("INVITE", [Self.typed], body: gateway.description)
    #expect(answer.hasPrefix("SIP/2.0 200"), "\(answer)")
    gateway.acknowledge()
    #expect(run.wait(for: "\"event\":\"connected\""), "\(run.output)")
    run.press("o")
    #expect(gateway.request("INVITE") != nil, "\(run.output)")
    run.press("h")
    #expect(gateway.request("BYE") != nil, "\(run.output)")
    run.signal(SIGKILL)
  }

  private static let typed = "Content-Type: application/sdp"

  /// The proxy sends from its own port what it passes on (RFC 3261 section 16.6).
  @Test func requestsComeFromTheProxyThatStaysOnTheWay() throws {
    let (run, port) = try listener()
    let gateway = try Gateway(calling: port)
    let proxy = try Gateway(calling: port)
    let route = "Record-Route: <sip:127.0.0.1:\(proxy.port);lr>"
    let answer = gateway.ask("INVITE", [route, Self.typed], body: gateway.description)
    #expect(answer.hasPrefix("SIP/2.0 200"), "\(answer)")
    gateway.acknowledge()
    let digit = ["Content-Type: application/dtmf-relay"]
    #expect(gateway.ask("INFO", digit, body: "Signal=5", from: proxy).hasPrefix("SIP/2.0 200"))
    #expect(gateway.ask("BYE", from: proxy).hasPrefix("SIP/2.0 200"))
    #expect(run.wait(for: "\"cause\":\"hungUpByFarSide\""), "\(run.output)")
    run.signal(SIGKILL)
  }

  /// A body for others is no offer: the answer to the one of this side is in the ACK (RFC
  /// 3261 section 13.2.1).
  @Test func answerIsInTheAcknowledgementWhateverElseTheInvitationCarries() throws {
    let (run, port) = try listener()
    let trunk = try Gateway(calling: port)
    let media = try Gateway(calling: port)
    let isup = [
      "Content-Type: application/isup", "Content-Disposition: signal;handling=optional",
    ]
    let offer = trunk.ask("INVITE", isup, body: "x")
    #expect(offer.hasPrefix("SIP/2.0 200") && offer.contains("m=audio"), "\(offer)")
    trunk.acknowledge([Self.typed], body: trunk.description(voiceAt: media.port))
    let voice = LoopbackSocket.datagram(at: media.descriptor, within: Patience.limit)
    #expect(voice?.first == 0x80, "\(run.output)")
    _ = trunk.ask("BYE")
    run.signal(SIGKILL)
  }

  @Test func onlyTheBodyIsReadAndOptionalOnesNeedNotBe() throws {
    let (run, port) = try listener()
    let first = try Gateway(calling: port)
    let held = "a=inactive\r\n"
    let answer = first.ask("INVITE", [Self.typed], body: first.description, surplus: held)
    #expect(answer.hasPrefix("SIP/2.0 200") && !answer.contains("a=inactive"), "\(answer)")
    first.acknowledge()
    // An empty INFO is one, whatever the datagram has behind it.
    let digit = "Content-Type: application/dtmf-relay"
    #expect(first.ask("INFO", [digit], surplus: "Signal=9").hasPrefix("SIP/2.0 200"))
    for (type, body) in [
      ("dtmf-relay", "Signal=11\r\nDuration=160"), ("dtmf", "Signal=8"), ("dtmf", "\r\n4"),
    ] {
      let answer = first.ask("INFO", ["Content-Type: application/\(type)"], body: body)
      #expect(answer.hasPrefix("SIP/2.0 200"), "\(body): \(answer)")
    }
    #expect(run.wait(for: "\"key\":\"4\""), "\(run.output)")
    let keys = ["#", "8", "4"].allSatisfy { run.printed("\"key\":\"\($0)\"") }
    #expect(keys && !run.printed("\"key\":\"9\""), "\(run.output)")
    let foreign = first.ask("INFO", ["Info-Package: x", "Content-Type: text/x"], body: "x")
    #expect(foreign.hasPrefix("SIP/2.0 469"), "\(foreign)")
    #expect(first.ask("INFO", ["Content-Type: text/x"], body: "x").contains("\r\nAccept: "))
    #expect(first.ask("BYE").hasPrefix("SIP/2.0 200"))
    #expect(run.wait(for: "\"cause\":\"hungUpByFarSide\""), "\(run.output)")

    let trunk = try Gateway(calling: port)
    let isup = [
      "Content-Type: application/isup", "Content-Disposition: signal;handling=optional",
    ]
    let offer = trunk.ask("INVITE", isup, body: "x")
    #expect(offer.hasPrefix("SIP/2.0 200") && offer.contains("m=audio"), "\(offer)")
    trunk.acknowledge()
    _ = trunk.ask("BYE")
    let packed = try Gateway(calling: port)
    let encoded = packed.ask(
      "INVITE",
      [Self.typed, "Content-Encoding: gzip"],
      body: packed.description
    )
    #expect(encoded.hasPrefix("SIP/2.0 415") && encoded.contains("Accept-Encoding: "))
    run.signal(SIGKILL)
  }
}
