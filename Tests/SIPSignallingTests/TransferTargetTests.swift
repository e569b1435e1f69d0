import Testing

@testable import SIPSignalling

/// Targets of transfers, as a REFER carries them.
struct TransferTargetTests {
  @Test func whatIsWrittenIsRead() {
    let name = DialogName(callID: "7@c4%;=", toTag: "a.b", fromTag: "1")
    let target = TransferTarget(uri: "sip:carol@example.org", replacing: name)
    #expect(
      target.referTo
        == "sip:carol@example.org?Replaces=7%40c4%25%3B%3D%3Bto-tag%3Da.b%3Bfrom-tag%3D1"
    )
    let plain = TransferTarget(uri: "sip:carol@example.org:5070")
    #expect(TransferTarget(referringTo: plain.referTo) == plain)
    let simple = TransferTarget(
      uri: "sip:carol@example.org",
      replacing: DialogName(callID: "7@c4", toTag: "a", fromTag: "b")
    )
    #expect(TransferTarget(referringTo: simple.referTo) == simple)
  }

  /// RFC 3891 section 6.1, where other parameters may stand between the tags.
  @Test func theStandardsExampleIsRead() {
    let name = DialogName("12345@atlanta.example.com;from-tag=23431;early-only;to-tag=1234")
    let callID = "12345@atlanta.example.com"
    #expect(name?.callID == callID && name?.toTag == "1234" && name?.fromTag == "23431")
    #expect(name?.isEarlyOnly == true)
  }

  @Test func blanksAndLettersOfAnyKindAreRead() {
    let name = DialogName(" a@b ; To-Tag = 1 ;early-only; from-tag=2 ")
    #expect(name.map { "\($0)" } == "a@b;to-tag=1;from-tag=2;early-only")
  }

  @Test func numbersAreTargets() {
    #expect(
      TransferTarget(referringTo: "tel:+49-30-1234;phone-context=x")?.uri == "tel:+49-30-1234"
    )
  }

  /// A phone or a place where calls are parked may be named by a parameter (RFC 3261 section
  /// 19.1.5, RFC 5627).
  @Test(arguments: [
    ("sip:1234@h;user=phone", "sip:1234@h;user=phone"), ("sip:a@h;gr=urn:x", "sip:a@h;gr=urn:x"),
    ("sip:a@h;gr;transport=udp;lr", "sip:a@h;gr"), ("sip:a@h:5070;orbit=7", "sip:a@h:5070;orbit=7"),
    // The way that it asks for is kept as well (section 26.2.2).
    ("sips:a@h:5071", "sips:a@h:5071"),
    ("sip:a@h;transport=TCP", "sip:a@h;transport=tcp"),
    ("sip:a@h;transport=WSS", "sip:a@h;transport=wss"), ("sips:a@h", "sips:a@h"),
  ])
  func parametersOfTheAddressAreKept(text: String, uri: String) {
    #expect(TransferTarget(referringTo: text)?.uri == uri)
  }

  @Test func invitationTellsWhoAskedForIt() {
    var invitation = Invitation(
      uri: "sip:carol@h",
      from: "sip:bob@h",
      name: nil,
      user: "bob",
      routes: [],
      replaced: nil
    )
    #expect(!invitation.headers.contains("Referred-By"))
    invitation.referrer = "<sip:alice@h>;cid=\"1@h\""
    #expect(invitation.headers.hasSuffix("Referred-By: <sip:alice@h>;cid=\"1@h\"\r\n"))
  }

  @Test(arguments: [
    "tel:", "tel:+x", "", "sip:", "sip:a@b?Replaces=x", "sip:a@b?Replaces=x%3Bto-tag%3D1",
    "sip:a@b?Replaces=x%3Bto-tag%3D1%3Bfrom-tag%3D2%0D%0AEvil%3A%20yes", "sip:a@b;method=BYE",
    "sip:a@b\r\nEvil: yes", "sip:a@b?Replaces=%",
  ])
  func whatIsNoCallIsRefused(text: String) {
    #expect(TransferTarget(referringTo: text) == nil)
  }
}
