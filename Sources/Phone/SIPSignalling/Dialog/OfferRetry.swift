import MediaCore

/// When an offer is made once more that the far side could not take just now.
///
/// A far side that has not got the ACK of one re-INVITE answers the next one with 500, as happens
/// when datagrams overtake each other (RFC 3261 section 14.2). What that was for, a hold or its
/// end, would be lost: each side would wait for the other.
///
/// A server answers 408 for a far side that has no network just now.
///
/// A value; time is its users'.
struct OfferRetry: Equatable, Sendable {
  private var count = 0

  /// A far side that fails for longer has another fault.
  private static let most = 4
  /// The side that made the call waits longer, lest both try at the same time (as section 14.1
  /// wants it after 491).
  private static let pauses = (callee: Int64(1_500_000_000), caller: Int64(3_000_000_000))

  /// No offer has failed yet.
  init() {}

  /// Notes that the sides have agreed.
  mutating func noteAgreement() { count = 0 }

  /// How long to wait after an offer got this status, in nanoseconds; nil to let it be.
  mutating func pause(after status: Int, isIncoming: Bool) -> Int64? {
    guard [408, 500, 503, 504].contains(status), count < Self.most else { return nil }
    count += 1
    return isIncoming ? Self.pauses.callee : Self.pauses.caller
  }
}
