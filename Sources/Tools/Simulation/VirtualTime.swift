package import MediaCore
import RealTime

/// The time of a simulation: it advances only when set.
///
/// **Thread safety:** one thread at a time.
package final class VirtualTime: TimeSource {
  /// The present instant.
  package private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)

  /// Wall-clock time in nanoseconds since 1970, which begins on 14 November 2023.
  package var wallNanoseconds: Int64 { 1_700_000_000_000_000_000 + now.nanoseconds }

  /// Creates a clock at one second.
  package init() {}

  /// Advances to `instant`, but never back.
  package func advance(to instant: MonotonicInstant) { now = max(now, instant) }
}
