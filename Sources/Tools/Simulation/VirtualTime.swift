package import MediaCore
import RealTime

/// The time of a simulation: it advances only when set.
///
/// **Thread safety:** one thread at a time.
package final class VirtualTime: TimeSource {
  /// The present instant.
  package private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)

  /// Time of a wall clock that shows a day of the year 2023 at the beginning, in nanoseconds.
  package var wallNanoseconds: Int64 { 1_700_000_000_000_000_000 + now.nanoseconds }

  /// Creates a time at its beginning.
  package init() {}

  /// Advances to `instant`, but never back.
  package func advance(to instant: MonotonicInstant) { now = max(now, instant) }
}
