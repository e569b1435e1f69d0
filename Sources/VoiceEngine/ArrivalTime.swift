public import MediaTime

/// When a datagram arrived, by each clock that asks.
public struct ArrivalTime: Sendable, BitwiseCopyable {
  /// When the kernel received it, for reports and for how long the far side is silent.
  public var instant: MonotonicInstant
  /// The same moment on the loudspeaker's clock (`SoundClock`), for playout.
  public var playback: MonotonicInstant

  /// The moment at which the two clocks showed this.
  @_noAllocation @_noLocks
  public init(instant: MonotonicInstant, playback: MonotonicInstant) {
    self.instant = instant
    self.playback = playback
  }
}
