import Testing

@testable import SidetonePhone

/// Status of a new call, as the side that asked for it learns it (RFC 3515 section 2.4.5).
struct TransferOutcomeTests {
  @Test(arguments: [
    (CallEnd.notFound(code: 404), 404), (.declined, 603), (.busy(code: 600), 600), (.noAnswer, 408),
    (.refused(code: 403, phrase: "Forbidden"), 403), (.unreachable("x"), 503), (.failed("x"), 480),
  ])
  func statusIsThatOfTheNewCall(end: CallEnd, status: Int) {
    let outcome = Phone.outcome(of: end)
    #expect(outcome.status == status && !outcome.reason.isEmpty)
  }
}
