import Testing

@testable import SIPSignalling

struct SIPAddressTests {
  @Test func partsAreTaken() throws {
    let address = try #require(SIPAddress("sip:bob@192.168.1.20:5070;transport=tcp"))
    #expect(address.user == "bob" && address.host == "192.168.1.20" && address.port == 5_070)
    #expect(address.usesTCP)
    #expect(address.uri(atNumericHost: "10.0.0.1") == "sip:bob@10.0.0.1:5070;transport=tcp")
  }

  @Test func defaultsAreThoseOfTheRFC() throws {
    let address = try #require(SIPAddress("sip:example.org"))
    #expect(address.user.isEmpty && address.port == 5_060 && !address.usesTCP)
    #expect(address.uri(atNumericHost: "::1") == "sip:[::1]:5060")
  }

  @Test(arguments: ["", "bob", "tel:+123", "sip:", "mailto:bob@example.org"])
  func otherTextIsRefused(text: String) {
    #expect(SIPAddress(text) == nil)
  }
}
