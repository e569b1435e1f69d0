import Testing

@testable import SIPSignalling

struct DescriptionBodyTests {
  private static let description = "v=0\r\ns=-\r\n"

  private func description(in body: String, _ type: String?) -> String? {
    let found = DescriptionBody(Array(body.utf8), type: type).content
    guard case .description(let bytes) = found else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func parts(_ parts: [String], _ boundary: String = "b", end: String = "\r\n") -> String {
    parts.map { "--\(boundary)\(end)\($0)\(end)" }.joined() + "--\(boundary)--\(end)"
  }

  @Test(arguments: [nil, "application/sdp", "Application/SDP ; charset=utf-8"])
  func aDescriptionAloneIsTaken(type: String?) {
    #expect(description(in: Self.description, type) == Self.description)
  }

  /// Gateways to the telephone network, emergency calls, recorders and conferences send these.
  @Test(
    arguments: [
      "multipart/mixed;boundary=b", "Multipart/Related; type=\"application/sdp\"; boundary=\"b\"",
      "multipart/alternative ; Boundary = b",
    ]
  )
  func aDescriptionAmongOthersIsTaken(type: String) {
    let other =
      "Content-Type: application/isup;version=itu-t92+\r\n"
      + "Content-Disposition: signal;handling=optional\r\n\r\n\u{1}\u{2}--b is no boundary\r\n"
    let own = "content-type : application/sdp\r\n\r\n" + Self.description
    for all in [[own, other], [other, own], [own]] {
      #expect(description(in: parts(all), type) == Self.description)
      #expect(description(in: "preamble\r\n" + parts(all), type) == Self.description)
    }
    #expect(description(in: parts([other]), type) == nil)
  }

  /// A trunk's message of the telephone network (ISUP) may be ignored (RFC 3261 section 20.11).
  @Test func whatIsOptionalIsNoBody() {
    let isup = "Content-Type: application/isup\r\nContent-Disposition: signal"
    let optional = isup + ";handling=optional\r\n\r\nx"
    func content(_ body: String, _ type: String, _ disposition: String? = nil)
      -> DescriptionBody.Content
    {
      DescriptionBody(Array(body.utf8), type: type, disposition: disposition).content
    }
    let multipart = "multipart/mixed;boundary=b"
    #expect(content("x", "application/isup", "signal;handling=optional") == .none)
    #expect(content("x", "application/isup", "signal;handling=required") == .unknown)
    #expect(content("x", "application/isup") == .unknown)
    #expect(content(parts([optional]), multipart) == .none)
    #expect(content(parts([optional, isup + "\r\n\r\nx"]), multipart) == .unknown)
    let both = parts([optional, "Content-Type: application/sdp\r\n\r\n" + Self.description])
    #expect(description(in: both, multipart) == Self.description)
  }

  @Test func linesMayEndAsTheyLike() {
    let own = "Content-Type: application/sdp\n\nv=0\ns=-\n"
    let type = "multipart/mixed;boundary=b"
    #expect(description(in: parts([own], end: "\n"), type) == "v=0\ns=-\n")
    #expect(description(in: "--b\n" + own, type) == "v=0\ns=-\n", "the last boundary is lost")
    #expect(description(in: "--b  \r\n\r\nx\r\n--b--", type) == nil)
  }

  @Test func partsMayHaveParts() {
    let own = "Content-Type: application/sdp\r\n\r\n" + Self.description
    let inner =
      "Content-Type: multipart/alternative;boundary=\"in;ner\"\r\n\r\n"
      + parts([own], "in;ner")
    #expect(description(in: parts([inner]), "multipart/mixed;boundary=b") == Self.description)
    var deep = own
    for level in 0..<10 {
      deep =
        "Content-Type: multipart/mixed;boundary=level\(level)\r\n\r\n"
        + parts([deep], "level\(level)")
    }
    #expect(description(in: parts([deep]), "multipart/mixed;boundary=b") == nil)
  }

  @Test func whatIsForAnotherPurposeIsNoOffer() {
    let own = "Content-Type: application/sdp\r\n\r\n" + Self.description
    let early = "Content-Disposition: early-session\r\n" + own
    let type = "multipart/mixed;boundary=b"
    #expect(description(in: parts([early, own]), type) == Self.description)
    #expect(description(in: parts([early]), type) == nil)
    func content(_ type: String) -> DescriptionBody.Content {
      DescriptionBody(Array("x".utf8), type: type).content
    }
    #expect(content("text/plain") == .unknown && content("multipart/mixed") == .unknown)
    #expect(DescriptionBody([], type: "text/plain").content == .none)
  }
}
