import MediaCore

/// Repetitions of an offer that the far side could not accept at that moment.
///
/// A far side that has not got the ACK of one re-INVITE answers the next one with 500, as happens
/// when datagrams overtake each other (RFC 3261 section 14.2). Its purpose, a hold or the end of
/// one, would be lost: each side would wait for the other.
///
/// A server answers 408 for a far side whose network is away for a while.
///
/// A value without a clock.
package struct OfferRetry: Equatable, Sendable {
  private var count = 0

  /// Maximum number of repetitions; a far side that fails for longer has another fault.
  private static let most = 4
  /// Pauses before a repetition, in nanoseconds: the caller's is longer, so that the two sides do
  /// not try at the same time (as section 14.1 requires after 491).
  private static let pauses = (callee: Int64(1_500_000_000), caller: Int64(3_000_000_000))

  /// Repetitions of an offer that has not failed yet.
  package init() {}

  /// Notes that the sides have agreed.
  package mutating func noteAgreement() { count = 0 }

  /// Returns the pause before an offer that got `status` is repeated, in nanoseconds; nil not to
  /// repeat it.
  package mutating func pause(after status: Int, isIncoming: Bool) -> Int64? {
    guard [408, 500, 503, 504].contains(status), count < Self.most else { return nil }
    count += 1
    return isIncoming ? Self.pauses.callee : Self.pauses.caller
  }
}
