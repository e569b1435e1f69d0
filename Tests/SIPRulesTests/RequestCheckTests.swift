import Testing

@testable import SIPRules

/// Refusals of faulty requests (RFC 3261 section 8.2).
struct RequestCheckTests {
  private var check = RequestCheck(method: "INVITE", sequenceMethod: "INVITE", scheme: "sip")

  @Test func requestInOrderIsTaken() { #expect(check.refusal == nil) }

  @Test mutating func nobodyAnswersAnAcknowledgement() {
    check = RequestCheck(method: "ACK", sequenceMethod: "INVITE", scheme: "isbn")
    check.hasDuplicates = true
    #expect(check.refusal == nil)
  }

  @Test mutating func contradictionsAreBadRequests() {
    check.sequenceMethod = "OPTIONS"
    #expect(check.refusal?.code == 400)
    check.sequenceMethod = "INVITE"
    check.hasDuplicates = true
    #expect(check.refusal?.code == 400)
  }

  @Test(arguments: ["-1", "", "x", "10000000000", "101"])
  mutating func lengthsThatCannotBeAreBadRequests(length: String) {
    check.available = 100
    check.contentLength = length
    #expect(check.refusal?.code == 400)
    check.contentLength = "100"
    #expect(check.refusal == nil)
  }

  @Test mutating func otherSchemesAreNotCalled() {
    check.scheme = "http"
    #expect(check.refusal?.code == 416)
    check.scheme = "sips"
    #expect(check.refusal == nil)
  }

  @Test mutating func extensionsThatAreRequiredAreKnownOrNamed() {
    check.required = ["timer", "Replaces", "nothingSupportsThis", "100rel"]
    #expect(check.refusal?.code == 420)
    #expect(check.refusal?.headers == "Unsupported: nothingSupportsThis, 100rel\r\n")
    check.method = "CANCEL"
    check.sequenceMethod = "CANCEL"
    #expect(check.refusal == nil)
  }

  @Test mutating func descriptionsAreInSDPOnBothSides() {
    check.isEncoded = true
    #expect(check.refusal?.code == 415 && check.refusal?.headers.contains("-Encoding") == true)
    check.isEncoded = false
    check.hasUnknownBody = true
    #expect(check.refusal?.code == 415)
    #expect(
      check.refusal?.headers == "Accept: application/sdp, multipart/mixed, multipart/related\r\n"
    )
    check.hasUnknownBody = false
    check.accepted = ["text/nobodyKnowsThis"]
    #expect(check.refusal?.code == 406)
    check.accepted?.append("*/*")
    #expect(check.refusal == nil)
  }

  /// Known methods have their own answers, and others are not implemented.
  @Test(arguments: [
    ("MESSAGE", 405, "Allow: INVITE,BYE\r\n"), ("REGISTER", 405, "Allow: INVITE,BYE\r\n"),
    ("SUBSCRIBE", 489, "Allow-Events: refer\r\n"), ("UPDATE", 481, ""), ("CANCEL", 481, ""),
    ("PRACK", 481, ""), ("NOTIFY", 481, ""), ("NOBODYKNOWS", 501, ""),
  ])
  func unwantedRequestsAreRefusedByTheirKind(method: String, code: UInt16, headers: String) {
    let refusal = RequestCheck.refusal(ofUnwanted: method, allowing: "INVITE,BYE")
    #expect(refusal.code == code && refusal.headers == headers)
  }
}
