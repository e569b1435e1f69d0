import SIPSignalling
import Testing

@testable import CommandLine

/// Links come from anywhere: a page, a mail, a desktop.
struct CallLinkTests {
  @Test(arguments: [
    ("sip:bob@host", "sip:bob@host"), ("SIPS:bob@host", "sips:bob@host"),
    ("sidetone://bob@host/", "sip:bob@host"), ("sip:b%6fb@host", "sip:bob@host"),
    ("tel:+43-1-234", "sip:+431234@gateway"), ("tel:0301234567", "sip:0301234567@gateway"),
    ("tel:0049-30-123", "sip:004930123@gateway"), ("tel:+49%2030123", "sip:+4930123@gateway"),
    ("tel:%2B4930123", "sip:+4930123@gateway"),
    // How to signal is not for a page to say, unless it asks for encryption.
    ("sip:bob@host;transport=udp", "sip:bob@host"),
    ("sip:bob@host;user=phone;%54ransport=tcp;x=1", "sip:bob@host;user=phone;x=1"),
    ("sip:bob@host:5061;transport=TLS", "sip:bob@host:5061;transport=TLS"),
  ])
  func linksAreAddresses(link: String, address: String) throws {
    #expect(try CallLink(link).address(gateway: "gateway") == address)
  }

  @Test func callsByAnAccountMayCost() throws {
    let accounts = [try SIPAccount("alice@example.org", server: nil, password: "")]
    #expect(CallLink.mayCost("sip:bob@example.org", among: accounts))
    #expect(!CallLink.mayCost("sip:bob@192.0.2.1", among: accounts))
    #expect(!CallLink.mayCost("sip:bob@example.org", among: []))
    #expect(try CallLink("tel:+431234").isNumber && !CallLink("sip:+431234@host").isNumber)
  }

  @Test(arguments: [
    "http://example.org", "bob", "", "sip:bob@host\r\nRoute: x", "sip:bob@host%0d%0aRoute:%20x",
    "sip:bob\u{1B}[2J@host", "javascript:sip:bob@host",
  ])
  func whatIsNoLinkToCallIsRefused(link: String) {
    #expect(throws: CommandFailure.self) { try CallLink(link) }
  }

  @Test func aNumberNeedsAGateway() throws {
    let link = try CallLink("tel:+431234")
    #expect(throws: CommandFailure.self) { try link.address(gateway: nil) }
    for link in ["tel:x", "tel:%2Fx"] {
      #expect(throws: CommandFailure.self) { try CallLink(link).address(gateway: "g") }
    }
  }
}
