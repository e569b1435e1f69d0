import Testing

@testable import SIPSignalling

struct SIPAddressTests {
  @Test(arguments: [
    ("sip:anonymous@anonymous.invalid", true), ("sip:Anonymous@example.org", true), ("", true),
    ("tel:", true), ("tel:+49-30-1234;phone-context=example.org", false), ("tel:*21#", false),
    ("sip:bob@example.org", false), ("mailto:bob@example.org", true),
  ])
  func whoHidesIsAnonymous(uri: String, isAnonymous: Bool) {
    #expect(SIPAddress.isAnonymous(uri) == isAnonymous)
  }

  @Test func aRouteIsWrittenLooseOnce() {
    #expect(SIPAddress.route("sip:edge;lr") == "sip:edge")
    #expect(SIPAddress.route("sip:e:5060;transport=tcp;LR;x=1") == "sip:e:5060;transport=tcp;x=1")
    #expect(SIPAddress.route("sip:edge;lr=on") == "sip:edge")
    #expect(SIPAddress.route("sip:edge") == "sip:edge")
  }

  @Test func partsAreTaken() throws {
    let address = try #require(SIPAddress("sip:bob@192.168.1.20:5070;transport=tcp"))
    #expect(address.user == "bob" && address.host == "192.168.1.20" && address.port == 5_070)
    #expect(address.transport == .tcp)
    let uri = address.uri(atNumericHost: "10.0.0.1", by: .tcp)
    #expect(uri == "sip:bob@10.0.0.1:5070;transport=tcp")
  }

  /// Codes of telephone networks, and names in other letters (RFC 3261 section 25.1).
  @Test(arguments: [
    ("sip:*31#030@h", "sip:*31%23030@h"), ("sip:jürgen@h", "sip:j%C3%BCrgen@h"),
    ("sip:j%c3%bcrgen@h", "sip:j%C3%BCrgen@h"), ("sip:a%20b;x=1@h", "sip:a%20b;x=1@h"),
    ("sip:100%@h", "sip:100%25@h"),
  ])
  func usersAreEscaped(text: String, uri: String) throws {
    let address = try #require(SIPAddress(text))
    #expect(address.uri == uri && SIPAddress(uri)?.user == address.user)
    #expect(address.uri(atNumericHost: "10.0.0.1", by: .udp).hasPrefix(uri.dropLast()))
  }

  @Test func defaultsAreThoseOfTheRFC() throws {
    let address = try #require(SIPAddress("sip:example.org"))
    #expect(address.user.isEmpty && address.port == 5_060 && address.securePort == 5_061)
    #expect(address.transport == nil)
    #expect(address.uri(atNumericHost: "::1", by: .udp) == "sip:[::1]:5060")
    #expect(address.uri(atNumericHost: "::1", by: .tls) == "sip:[::1]:5061;transport=tls")
  }

  /// The encrypted port is the one after the open one, unless the address is that of the first.
  @Test(arguments: [
    ("sip:bob@h:5070", UInt16(5_071), nil), ("sip:bob@h:5071;transport=tls", 5_071, .tls),
    ("sips:bob@h", 5_061, .tls), ("sips:bob@h:7000;transport=tcp", 7_000, SIPTransport.tls),
    ("sip:bob@h:65535", 65_535, nil),
  ])
  func encryptedAddressesHaveTheirPort(
    text: String,
    port: UInt16,
    transport: SIPTransport?
  ) throws {
    let address = try #require(SIPAddress(text))
    #expect(address.securePort == port && address.transport == transport)
  }

  @Test(arguments: [
    "", "bob", "tel:+123", "sip:", "mailto:bob@example.org", "sip:bob@h;transport=pigeon",
    "sips:bob@h;transport=udp", "sip:bob@h\r\nX: y", "sip:b ob@h", "<sip:bob@h>", "sip:bob@h\u{0}",
  ])
  func otherTextIsRefused(text: String) {
    #expect(SIPAddress(text) == nil)
  }
}
