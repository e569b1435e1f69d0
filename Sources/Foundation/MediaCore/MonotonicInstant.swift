/// A point on the monotonic clock of this machine, in nanoseconds since an arbitrary origin.
///
/// Cores receive instants as arguments and never read a clock. The wall clock is never used for
/// media: NTP may step it (`CLOCK_MONOTONIC`, POSIX `clock_gettime`).
@frozen
public struct MonotonicInstant: Comparable, Hashable, Sendable, BitwiseCopyable {
  /// Nanoseconds since the clock's origin.
  public let nanoseconds: Int64

  /// An instant at the given number of nanoseconds after the clock's origin.
  @_noAllocation @_noLocks @inlinable
  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The instant `nanoseconds` later (earlier if negative), saturating at the ends of the range.
  @_noAllocation @_noLocks @inlinable
  public func advanced(byNanoseconds nanoseconds: Int64) -> MonotonicInstant {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return MonotonicInstant(nanoseconds: overflow ? (nanoseconds > 0 ? .max : .min) : sum)
  }

  /// The instant `duration` later.
  ///
  /// Not for the voice thread: `Duration` is 128 bits wide.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    let parts = duration.components
    return advanced(
      byNanoseconds: parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    )
  }

  /// Nanoseconds from `earlier` to this instant, negative if `earlier` is in fact later.
  @_noAllocation @_noLocks @inlinable
  public func nanoseconds(since earlier: MonotonicInstant) -> Int64 {
    nanoseconds &- earlier.nanoseconds
  }

  /// The earlier instant is the smaller one.
  @_noAllocation @_noLocks @inlinable
  public static func < (lhs: MonotonicInstant, rhs: MonotonicInstant) -> Bool {
    lhs.nanoseconds < rhs.nanoseconds
  }
}
