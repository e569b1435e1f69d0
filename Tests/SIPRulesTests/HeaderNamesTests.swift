import Testing

@testable import SIPRules

struct HeaderNamesTests {
  private func disguised(_ headers: String) -> String {
    var bytes = ArraySlice("INVITE sip:a@b SIP/2.0\r\n\(headers)\r\n\r\n".utf8)
    for (place, letter) in HeaderNames.disguises(in: bytes) { bytes[place] = letter }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// 3GPP TS 24.229 and MS-OCER; libre reads them as two headers of RFC 3261.
  @Test(arguments: ["DC-Info: 1", "ms-client-diagnostics: 5; reason=\"x\"", "dc-info  : 2"])
  func namesThatWouldBeReadAsOthersAreChanged(header: String) {
    let text = disguised("Via: SIP/2.0/UDP c\r\n\(header)\r\nTo: <sip:a@b>")
    #expect(!text.contains(header) && text.contains(String(header.dropFirst())))
    #expect(text.contains("\r\nVia: SIP/2.0/UDP c\r\n") && text.contains("\r\nTo: <sip:a@b>\r\n"))
    #expect(disguised(String(text.dropFirst(23).dropLast(2))) == text, "once is enough")
  }

  @Test(arguments: [
    "Content-Length: 0", "CONTENT-TYPE: a/b", "l: 0", "Contact: *", "X-Anything: 1", "Call-ID: 1",
    "P-Asserted-Identity: <sip:a@b>", "Session-Expires: 90", "Supported: timer",
  ])
  func othersStay(header: String) {
    #expect(disguised(header).contains("\r\n\(header)\r\n"))
  }

  @Test func aHeadThatHasNotEndedStays() {
    let part = ArraySlice("INVITE sip:a@b SIP/2.0\r\nDC-Info: 1\r\n".utf8)
    #expect(HeaderNames.disguises(in: part).isEmpty)
  }
}
