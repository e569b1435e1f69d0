import Testing

@testable import SIPRules

/// RFC 3311 section 5.2 and RFC 3261 section 12.2.2.
struct DialogRequestsTests {
  private func code(
    _ requests: DialogRequests,
    _ sequence: UInt32,
    from tag: String = "a",
    hasOffer: Bool
  ) -> UInt16? {
    requests.refusal(of: sequence, from: tag, hasOffer: hasOffer, pause: 7)?.code
  }

  @Test func numbersGoUpForEachPhoneThatRings() {
    var requests = DialogRequests()
    #expect(code(requests, 1, hasOffer: false) == nil, "the first one")
    requests.note(10, from: "a")
    #expect(code(requests, 10, hasOffer: false) == 500 && code(requests, 9, hasOffer: true) == 500)
    #expect(code(requests, 11, hasOffer: true) == nil)
    #expect(code(requests, 3, from: "b", hasOffer: true) == nil)
    requests.note(4, from: "a")
    #expect(code(requests, 10, hasOffer: false) == 500, "a late one changes nothing")
  }

  @Test func oneOfferAtATime() {
    var requests = DialogRequests()
    requests.noteOffer(1)
    #expect(code(requests, 2, hasOffer: true) == 491)
    #expect(code(requests, 2, hasOffer: false) == nil, "a refresh disturbs nothing")
    // A challenge is answered by another INVITE.
    let isFirst = requests.noteFinal(of: 1)
    requests.noteOffer(2)
    let isLate = requests.noteFinal(of: 1)
    #expect(isFirst && !isLate && code(requests, 2, hasOffer: true) == 491)
    _ = requests.noteFinal(of: 2)
    #expect(code(requests, 2, hasOffer: true) == nil)
    requests.isRemoteOfferOpen = true
    #expect(code(requests, 2, hasOffer: true) == 500)
    let refusal = requests.refusal(of: 2, from: "a", hasOffer: true, pause: 7)
    #expect(refusal?.headers == "Retry-After: 7\r\n")
    requests.isRemoteOfferOpen = false
    // An offer that was asked for is answered by the ACK.
    requests.awaitsAcknowledgement = true
    #expect(code(requests, 2, hasOffer: true) == 491)
    requests.noteAcknowledgement()
    #expect(code(requests, 2, hasOffer: true) == nil)
  }
}
