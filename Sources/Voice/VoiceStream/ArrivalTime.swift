package import MediaCore

/// Arrival of a datagram, by the monotonic clock and by the loudspeaker's.
package struct ArrivalTime: Sendable, BitwiseCopyable {
  /// Time of its reception by the kernel, for reports and for the duration of the far side's
  /// silence.
  package var instant: MonotonicInstant
  /// The same moment on the loudspeaker's clock (`DeviceClock`), for playout.
  package var playback: MonotonicInstant

  /// Time until the playback callback, by the loudspeaker's clock, in nanoseconds.
  package var wait: Int64

  /// Creates an arrival from the times of the two clocks, `wait` nanoseconds before the playback
  /// callback.
  @_noAllocation @_noLocks
  package init(instant: MonotonicInstant, playback: MonotonicInstant, wait: Int64) {
    self.instant = instant
    self.playback = playback
    self.wait = wait
  }
}
