import Testing

@testable import SIPSignalling

struct SIPEndReasonTests {
  @Test(arguments: [
    (486, "busy"), (600, "busy"), (603, "declined"), (480, "not available"), (404, "no such user"),
    (487, "cancelled"), (488, "no common codec"),
  ])
  func usualResponsesHaveTheirWords(code: Int, words: String) {
    #expect(SIPEndReason.refused(code: code, phrase: "whatever it says").description == words)
  }

  @Test func otherResponsesKeepTheirCodeAndPhrase() {
    let reason = SIPEndReason.refused(code: 503, phrase: "Service Unavailable")
    #expect(reason.description == "refused: 503 Service Unavailable")
  }

  @Test func everyReasonIsSaidInWords() {
    let reasons: [SIPEndReason] = [
      .remoteHangUp, .timeout, .noCommonCodec, .failed("the network is down"),
    ]
    #expect(Set(reasons.map(\.description)).count == reasons.count)
    for reason in reasons { #expect(reason.description.count > 5) }
    #expect(SIPEndReason.failed("the network is down").description == "the network is down")
  }

  @Test func errorsOfTheSystemAreInWords() {
    #expect(SIPError.text(98).contains("in use"))
    #expect(!SIPError.text(99_999).isEmpty)
  }
}
