import MediaCore

/// When excess delay has to go, even if the far side speaks all the time.
///
/// Silence is waited for, since a cut in it is inaudible; but music, a noisy room or a speaker
/// without a pause would keep what a stall has left for the rest of the call.
struct SustainedExcess: Sendable {
  /// So much is no longer two people talking to each other: it goes at once.
  private static var unbearable: Int64 { 150_000_000 }
  /// Not worth a cut that may be audible.
  private static var bearable: Int64 { 20_000_000 }
  private static var patience: Int64 { 5_000_000_000 }

  private var since: MonotonicInstant?

  /// Takes in by how many nanoseconds the delay is too long; true if that is to end now.
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
