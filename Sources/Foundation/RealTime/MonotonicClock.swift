import CLinux
public import MediaCore

/// The machine's monotonic clock (`CLOCK_MONOTONIC`).
///
/// Shells read it; cores are handed its instants.
public enum MonotonicClock {
  /// The present instant.
  ///
  /// Safe on the voice thread: the kernel maps this clock into the process.
  @_noAllocation @_noLocks
  public static func now() -> MonotonicInstant {
    MonotonicInstant(nanoseconds: realtime_monotonic_nanoseconds())
  }

  /// The monotonic instant at which the wall clock showed `wallNanoseconds`.
  ///
  /// Kernel packet timestamps come from the wall clock. Only their age against the wall clock of
  /// this moment is used, so a stepped clock can spoil one reading and no more; an age outside
  /// 0 to 10 s means that the clock was stepped, and the present is returned.
  @_noAllocation @_noLocks
  public static func instant(ofWallNanoseconds wallNanoseconds: Int64) -> MonotonicInstant {
    let now = now()
    let age = realtime_wall_nanoseconds() &- wallNanoseconds
    guard wallNanoseconds != 0, age >= 0, age < 10_000_000_000 else { return now }
    return now.advanced(byNanoseconds: -age)
  }
}
