/// CSeq numbers and open offers of a call's dialogs, by which requests that libre does not handle
/// are checked: UPDATE (RFC 3311 section 5.2), and requests in early dialogs.
package struct DialogRequests: Equatable, Sendable {
  /// True while an offer in a 200 OK of this side's is unanswered.
  package var awaitsAcknowledgement = false
  /// True while an offer of the far side's is unanswered.
  package var isRemoteOfferOpen = false
  /// True from this side's first INVITE until the call is established.
  package var isInviting = false
  /// `CSeq` of this side's re-INVITE whose offer is unanswered; nil without one.
  private var ownOffer: UInt32?
  /// `CSeq` of the newest accepted request, by the tag of its sender: each phone that rings counts
  /// its own.
  private var newest: [String: UInt32] = [:]

  /// The state at the beginning of a call.
  package init() {}

  /// True while this side's re-INVITE is unanswered.
  package var isOfferOpen: Bool { ownOffer != nil }

  /// Notes an accepted request of the far side's.
  package mutating func note(_ sequence: UInt32, from tag: String) {
    newest[tag] = max(newest[tag] ?? 0, sequence)
  }

  /// Notes that this side sends a re-INVITE with an offer.
  package mutating func noteOffer(_ sequence: UInt32) { ownOffer = sequence }

  /// Notes a final response to an INVITE of this side's; true if it answers the open re-INVITE.
  package mutating func noteFinal(of sequence: UInt32) -> Bool {
    guard ownOffer == sequence else { return false }
    ownOffer = nil
    return true
  }

  /// Notes the far side's ACK, which answers an offer in this side's 200 OK.
  package mutating func noteAcknowledgement() { awaitsAcknowledgement = false }

  /// Returns the refusal of a request; nil if it is in order.
  ///
  /// `pause` is the number of seconds after which the far side may repeat an offer that came too
  /// early, 0 to 10 at random.
  package func refusal(
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
