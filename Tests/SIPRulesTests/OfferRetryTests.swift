import Testing

@testable import SIPRules

struct OfferRetryTests {
  @Test func whatTheFarSideCouldNotTakeIsOfferedAFewTimesMore() {
    var retry = OfferRetry()
    #expect(retry.pause(after: 500, isIncoming: true) == 1_500_000_000)
    #expect(retry.pause(after: 503, isIncoming: false) == 3_000_000_000)
    for _ in 0..<2 { #expect(retry.pause(after: 504, isIncoming: true) != nil) }
    #expect(retry.pause(after: 500, isIncoming: true) == nil)
    retry.noteAgreement()
    #expect(retry.pause(after: 408, isIncoming: true) != nil)
  }

  @Test(arguments: [501, 505, 513, 580])
  func whatItWillNeverTakeIsNot(status: Int) {
    var retry = OfferRetry()
    #expect(retry.pause(after: status, isIncoming: true) == nil)
  }
}
