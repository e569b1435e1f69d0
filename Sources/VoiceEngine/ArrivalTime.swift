public import MediaTime

/// When a datagram arrived, by each clock that asks.
public struct ArrivalTime: Sendable, BitwiseCopyable {
  /// When the kernel received it, for reports and for how long the far side is silent.
  public var instant: MonotonicInstant
  /// The same moment on the loudspeaker's clock (`SoundClock`), for playout.
  public var playback: MonotonicInstant
  /// The same moment in nanoseconds since 1970, for RTCP.
  public var wallNanoseconds: Int64

  /// The moment at which the three clocks showed this.
  @_noAllocation @_noLocks
  public init(instant: MonotonicInstant, playback: MonotonicInstant, wallNanoseconds: Int64) {
    self.instant = instant
    self.playback = playback
    self.wallNanoseconds = wallNanoseconds
  }
}
