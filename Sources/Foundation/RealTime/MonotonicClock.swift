import CLinux
public import MediaCore

/// The machine's monotonic clock (`CLOCK_MONOTONIC`).
///
/// Shells read it; cores receive its instants as arguments.
public enum MonotonicClock {
  /// The present instant.
  ///
  /// Safe on the voice thread: the kernel maps this clock into the process.
  @_noAllocation @_noLocks
  public static func now() -> MonotonicInstant {
    MonotonicInstant(nanoseconds: realtime_monotonic_nanoseconds())
  }

  /// Returns the monotonic instant at which the wall clock showed `wallNanoseconds`.
  ///
  /// Kernel packet timestamps come from the wall clock. Only their age against the present wall
  /// clock is used, so a clock step spoils one reading at most. An age outside 0 to 10 s means that
  /// the clock was stepped; then the present instant is returned.
  @_noAllocation @_noLocks
  public static func instant(ofWallNanoseconds wallNanoseconds: Int64) -> MonotonicInstant {
    let now = now()
    let age = realtime_wall_nanoseconds() &- wallNanoseconds
    guard wallNanoseconds != 0, age >= 0, age < 10_000_000_000 else { return now }
    return now.advanced(byNanoseconds: -age)
  }
}
