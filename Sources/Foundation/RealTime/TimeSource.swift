import CLinux
public import MediaCore

/// Clocks that a voice loop reads: the machine's, or those of a simulation.
public protocol TimeSource: SendableMetatype {
  /// The present instant.
  var now: MonotonicInstant { get }

  /// Time of the wall clock, in nanoseconds since 1970.
  var wallNanoseconds: Int64 { get }
}

/// The machine's own clocks.
public struct SystemTime: TimeSource, Sendable {
  /// Creates access to the clocks of this machine.
  public init() {}

  /// The present instant (`CLOCK_MONOTONIC`).
  public var now: MonotonicInstant {
    @_noAllocation @_noLocks get { MonotonicClock.now() }
  }

  /// Time of the wall clock (`CLOCK_REALTIME`), in nanoseconds since 1970.
  public var wallNanoseconds: Int64 {
    @_noAllocation @_noLocks get { realtime_wall_nanoseconds() }
  }
}
