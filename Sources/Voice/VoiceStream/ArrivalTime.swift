package import MediaCore

/// When a datagram arrived, by each clock that asks.
package struct ArrivalTime: Sendable, BitwiseCopyable {
  /// When the kernel received it, for reports and for how long the far side is silent.
  package var instant: MonotonicInstant
  /// The same moment on the loudspeaker's clock (`DeviceClock`), for playout.
  package var playback: MonotonicInstant

  /// How long it lay until the loudspeaker asked for frames, by its clock, in nanoseconds.
  package var wait: Int64

  /// The moment at which the two clocks showed this, `wait` nanoseconds before the loudspeaker
  /// asked for frames.
  @_noAllocation @_noLocks
  package init(instant: MonotonicInstant, playback: MonotonicInstant, wait: Int64) {
    self.instant = instant
    self.playback = playback
    self.wait = wait
  }
}
