import Foundation
import Testing

@testable import SIPSignalling

struct StrictRouteTests {
  private static let end = "To: <sip:bob@192.0.2.9>\r\nCSeq: 2 BYE\r\n\r\n"

  /// RFC 3261 section 12.2.1.1: the first route becomes the target, and the target the last route.
  @Test func strictRouterIsTheTarget() throws {
    let head =
      "Max-Forwards: 70\r\n"
      + "Route: <sip:a;lr@192.0.2.1:5070;transport=tcp;method=BYE?a=b>\r\n"
    let route = try #require(
      StrictRoute(head + "Route: <sip:192.0.2.2;lr>\r\n" + Self.end, to: "sip:bob@192.0.2.9")
    )
    #expect(route.target == "sip:a;lr@192.0.2.1:5070;transport=tcp")
    #expect(
      route.head == "Max-Forwards: 70\r\nRoute: <sip:192.0.2.2;lr>\r\n"
        + "Route: <sip:bob@192.0.2.9>\r\n" + Self.end
    )
  }

  @Test(arguments: ["<sip:192.0.2.1;lr>", "<sip:192.0.2.1;x=y;LR=on>;z", "\"P\" <sip:a?b@h;lr>"])
  func looseRouterChangesNothing(route: String) {
    let head = "Route: \(route)\r\nRoute: <sip:192.0.2.2>\r\n\(Self.end)"
    #expect(StrictRoute(head, to: "sip:bob@192.0.2.9") == nil)
  }

  @Test(arguments: ["", "Route: \r\n", "Route: <sip:192.0.2.1\r\n", "X-Route: <sip:192.0.2.1>\r\n"])
  func noRouteChangesNothing(head: String) {
    #expect(StrictRoute(head + Self.end, to: "sip:bob@192.0.2.9") == nil)
  }

  /// A description in the body is no header.
  @Test func bodyIsNoHeader() {
    #expect(StrictRoute(Self.end + "Route: <sip:192.0.2.1>\r\n", to: "sip:bob@h") == nil)
  }

  /// Requests in a dialog, over real sockets.
  @Test(arguments: [SIPTransport.udp, .tcp])
  func callByAStrictRouterIsAcknowledgedAndEnded(transport: SIPTransport) async throws {
    let alice = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "alice"))
    _ = try await alice.start()
    let far = try FarSide(transport)
    let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 20)
    let call = try await alice.invite(far.uri, offer: offer)
    let answer = far.answer(.taken, to: try far.request("INVITE"))
      .replacingOccurrences(of: ";lr>", with: ">")
      .replacingOccurrences(of: "Contact: <\(far.uri)>", with: "Contact: <sip:bob@192.0.2.9>")
    try far.send(answer)
    let router = far.uri.replacingOccurrences(of: "bob@", with: "")
    let ack = try far.request("ACK")
    #expect(ack.hasPrefix("ACK \(router) SIP/2.0\r\n"), "\(ack)")
    #expect(ack.contains("\r\nRoute: <sip:bob@192.0.2.9>\r\n"), "\(ack)")
    await alice.hangUp(call)
    let bye = try far.request("BYE")
    #expect(bye.hasPrefix("BYE \(router) SIP/2.0\r\n"), "\(bye)")
    #expect(bye.contains("\r\nRoute: <sip:bob@192.0.2.9>\r\n"), "\(bye)")
    try far.send(far.response("200 OK", to: bye))
    await alice.stop()
  }
}
