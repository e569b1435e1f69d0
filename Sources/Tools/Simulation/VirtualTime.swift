public import MediaCore
public import RealTime

/// The time of a simulation: it advances only when set.
///
/// **Thread safety:** one thread at a time.
public final class VirtualTime: TimeSource {
  /// The present instant.
  public private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)

  /// A wall clock that shows a day of the year 2023 at the beginning.
  public var wallNanoseconds: Int64 { 1_700_000_000_000_000_000 + now.nanoseconds }

  /// A time that has just begun.
  public init() {}

  /// Moves to `instant`; never back.
  public func advance(to instant: MonotonicInstant) { now = max(now, instant) }
}
