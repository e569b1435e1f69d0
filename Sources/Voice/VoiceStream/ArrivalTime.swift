public import MediaCore

/// When a datagram arrived, by each clock that asks.
public struct ArrivalTime: Sendable, BitwiseCopyable {
  /// When the kernel received it, for reports and for how long the far side is silent.
  public var instant: MonotonicInstant
  /// The same moment on the loudspeaker's clock (`DeviceClock`), for playout.
  public var playback: MonotonicInstant

  /// How long it lay until the loudspeaker asked for frames, by its clock, in nanoseconds.
  public var wait: Int64

  /// The moment at which the two clocks showed this, `wait` nanoseconds before the loudspeaker
  /// asked for frames.
  @_noAllocation @_noLocks
  public init(instant: MonotonicInstant, playback: MonotonicInstant, wait: Int64) {
    self.instant = instant
    self.playback = playback
    self.wait = wait
  }
}
