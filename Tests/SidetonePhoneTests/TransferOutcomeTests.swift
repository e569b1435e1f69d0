import CallSecurity
import Foundation
import MediaCore
import SIPSignalling
import Testing

@testable import SidetonePhone

/// Status of a new call, as the side that asked for it learns it (RFC 3515 section 2.4.5).
struct TransferOutcomeTests {
  @Test(arguments: [
    (CallEnd.notFound(code: 404), 404), (.declined, 603), (.busy(code: 600), 600), (.noAnswer, 408),
    (.refused(code: 403, phrase: "Forbidden"), 403), (.unreachable("x"), 503), (.failed("x"), 480),
    (.moved(to: nil), 302), (.cancelled, 487),
  ])
  func statusIsThatOfTheNewCall(end: CallEnd, status: Int) {
    let outcome = Phone.outcome(of: end)
    #expect(outcome.status == status && !outcome.reason.isEmpty)
  }

  /// An anonymous caller, or one with a number alone, is reached within the call only; so is a
  /// phone that calls directly, whose claim need not lead to it.
  @Test(
    arguments: [
      ("sip:carol@example.org", "sip:me@example.org", "sip:carol@example.org"),
      ("sip:anonymous@anonymous.invalid", "sip:me@example.org", nil),
      ("tel:+49301234", "sip:me@example.org", nil), ("sip:carol@example.org", nil, nil),
    ] as [(String, String?, String?)]
  )
  func onlyCallersOfAServerAreCalledByTheirClaim(uri: String, account: String?, expected: String?) {
    let origin = CallOrigin(
      host: "example.org",
      source: "192.0.2.1",
      isVouchedFor: false,
      account: account,
      uri: uri
    )
    #expect(origin.callableURI == expected)
  }

  /// RFC 3261 section 19.1.5: what a URI says of the last hop is the server's matter.
  @Test(arguments: ["", ";transport=tcp", ";transport=wss", ";user=phone"])
  func serverIsToldTheWholeURI(parameters: String) throws {
    let address = try #require(SIPAddress("sip:carol@192.0.2.7:5062\(parameters)"))
    let rule = SecurityRule(.preferred, address: "carol", record: nil)
    let route = CallRoute(
      address: address,
      host: address.host,
      localHost: "192.0.2.1",
      rule: rule,
      account: "sip:me@example.org"
    )
    #expect(route.uri(by: .udp) == "sip:carol@192.0.2.7:5062\(parameters)")
  }

  /// A `y` that the user presses for something else much later calls nobody.
  @Test func leftRequestLastsForAMinute() {
    let left = LeftRequest(
      call: UUID(),
      target: TransferTarget(uri: "sip:carol@h"),
      account: nil,
      at: MonotonicInstant(nanoseconds: 0)
    )
    #expect(left.isValid(at: MonotonicInstant(nanoseconds: 59_000_000_000)))
    #expect(!left.isValid(at: MonotonicInstant(nanoseconds: 60_000_000_000)))
  }
}
