import CLinux
public import MediaCore

/// Where a voice loop reads the time: from the machine's clocks, or from a simulation's.
public protocol TimeSource: SendableMetatype {
  /// The present instant.
  var now: MonotonicInstant { get }

  /// The wall clock, in nanoseconds since 1970.
  var wallNanoseconds: Int64 { get }
}

/// The machine's own clocks.
public struct SystemTime: TimeSource, Sendable {
  /// The clocks of the machine that this runs on.
  public init() {}

  /// The present instant (`CLOCK_MONOTONIC`).
  public var now: MonotonicInstant {
    @_noAllocation @_noLocks get { MonotonicClock.now() }
  }

  /// The wall clock (`CLOCK_REALTIME`), in nanoseconds since 1970.
  public var wallNanoseconds: Int64 {
    @_noAllocation @_noLocks get { realtime_wall_nanoseconds() }
  }
}
