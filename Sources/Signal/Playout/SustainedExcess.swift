import MediaCore

/// Detector of excess delay that must be cut even while the far side speaks.
///
/// A silence is preferred, since a cut in it is inaudible; but music, a noisy room or a speaker
/// without a pause would keep the excess of a stall for the rest of the call.
struct SustainedExcess: Sendable {
  /// Excess, in nanoseconds, that hinders conversation and is cut at once.
  private static var unbearable: Int64 { 150_000_000 }
  /// Excess, in nanoseconds, that is not worth a cut that may be audible.
  private static var bearable: Int64 { 20_000_000 }
  private static var patience: Int64 { 5_000_000_000 }

  private var since: MonotonicInstant?

  /// Notes an excess delay in nanoseconds, and returns true if it is to be cut now.
  @_noAllocation @_noLocks
  mutating func isUrgent(_ excess: Int64, at now: MonotonicInstant) -> Bool {
    guard excess > Self.bearable else {
      since = nil
      return false
    }
    guard let since else {
      since = now
      return excess > Self.unbearable
    }
    return excess > Self.unbearable || now.nanoseconds(since: since) > Self.patience
  }
}
