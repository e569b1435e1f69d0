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
    #expect(name == DialogName(callID: callID, toTag: "1234", fromTag: "23431"))
  }

  @Test func blanksAndLettersOfAnyKindAreRead() {
    let name = DialogName(" a@b ; To-Tag = 1 ;early-only; from-tag=2 ")
    #expect(name == DialogName(callID: "a@b", toTag: "1", fromTag: "2"))
    #expect(name.map { "\($0)" } == "a@b;to-tag=1;from-tag=2")
  }

  @Test func numbersAreTargets() {
    #expect(
      TransferTarget(referringTo: "tel:+49-30-1234;phone-context=x")?.uri == "tel:+49-30-1234"
    )
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
