/// The order of requests and offers in a call's dialog, as far as libre leaves it to its users: that
/// of UPDATE (RFC 3311 section 5.2).
///
/// A value without I/O.
struct DialogRequests: Equatable, Sendable {
  /// True while an offer of this side's has no answer.
  var isOfferOpen = false
  /// True while an offer of the far side's has no answer.
  var isRemoteOfferOpen = false
  /// `CSeq` of the far side's newest request, nil before its first.
  private var newest: UInt32?

  /// Takes in a request of the far side's that was accepted.
  mutating func note(_ sequence: UInt32) { newest = max(newest ?? 0, sequence) }

  /// Why an UPDATE is refused; nil for one that is in order.
  ///
  /// `pause` is how many seconds a far side waits that came too early, 0 to 10 at random.
  func refusal(
    ofUpdate sequence: UInt32,
    hasOffer: Bool,
    pause: Int
  ) -> RequestCheck.Refusal? {
    // RFC 3261 section 12.2.2.
    if let newest, sequence <= newest {
      return .init(code: 500, phrase: "Server Internal Error: CSeq was used before")
    }
    guard hasOffer else { return nil }
    if isOfferOpen { return .init(code: 491, phrase: "Request Pending") }
    guard isRemoteOfferOpen else { return nil }
    return .init(
      code: 500,
      phrase: "Server Internal Error: an offer is open",
      headers: "Retry-After: \(pause)\r\n"
    )
  }
}
