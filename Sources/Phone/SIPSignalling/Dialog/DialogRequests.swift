/// The order of requests and offers in a call's dialogs, for what libre leaves to its users: UPDATE
/// (RFC 3311 section 5.2), and what comes before the answer.
///
/// A value without I/O.
struct DialogRequests: Equatable, Sendable {
  /// True while an offer in an answer of this side's has no answer.
  var awaitsAcknowledgement = false
  /// True while an offer of the far side's has no answer.
  var isRemoteOfferOpen = false
  /// True from this side's first INVITE until the call stands.
  var isInviting = false
  /// `CSeq` of this side's INVITE whose offer has no answer.
  private var ownOffer: UInt32?
  /// `CSeq` of the newest accepted request, by the tag of its sender: each phone that rings counts
  /// its own.
  private var newest: [String: UInt32] = [:]

  /// Takes in a request of the far side's that was accepted.
  mutating func note(_ sequence: UInt32, from tag: String) {
    newest[tag] = max(newest[tag] ?? 0, sequence)
  }

  /// Notes that a later INVITE with an offer goes out.
  mutating func noteOffer(_ sequence: UInt32) { ownOffer = sequence }

  /// Notes a final response to an INVITE of this side's; false if that was answered before.
  mutating func noteFinal(of sequence: UInt32) -> Bool {
    guard ownOffer == sequence else { return false }
    ownOffer = nil
    return true
  }

  /// Notes the far side's ACK, which has an answer if it was to have one.
  mutating func noteAcknowledgement() { awaitsAcknowledgement = false }

  /// Why a request is refused; nil for one that is in order.
  ///
  /// `pause` is how many seconds a far side waits that came too early, 0 to 10 at random.
  func refusal(
    of sequence: UInt32,
    from tag: String,
    hasOffer: Bool,
    pause: Int
  ) -> RequestCheck.Refusal? {
    // RFC 3261 section 12.2.2.
    if let newest = newest[tag], sequence <= newest {
      return .init(code: 500, phrase: "Server Internal Error: CSeq was used before")
    }
    guard hasOffer else { return nil }
    if isInviting || ownOffer != nil || awaitsAcknowledgement {
      return .init(code: 491, phrase: "Request Pending")
    }
    guard isRemoteOfferOpen else { return nil }
    return .init(
      code: 500,
      phrase: "Server Internal Error: an offer is open",
      headers: "Retry-After: \(pause)\r\n"
    )
  }
}
