/// Counters and measurements of the voice thread's device side.
public struct EngineStatistics: Equatable, Sendable, BitwiseCopyable {
  /// Frames captured at 48 kHz.
  public var capturedFrames: Int64 = 0
  /// Frames played at 48 kHz.
  public var playedFrames: Int64 = 0
  /// Monotonic time, in nanoseconds, at which frame 0 of the capture would have entered the
  /// microphone; `Int64.max` unless measured.
  public var captureOrigin = Int64.max
  /// Monotonic time, in nanoseconds, at which frame 0 of the playback would have left the
  /// loudspeaker; `Int64.max` unless measured.
  public var playbackOrigin = Int64.max
  /// Capture faults so far.
  public var overruns = 0
  /// Playback faults so far.
  public var underruns = 0
  /// Frames lost in faults so far, at the device's rates.
  public var lostFrames: Int64 = 0
  /// Frames at 48 kHz among `playedFrames` that were silence, as none were handed over in time.
  package var silentFrames: Int64 = 0
  /// Time from the writing of a frame until the loudspeaker plays it, smoothed, in nanoseconds.
  public var playbackFillNanoseconds: Int64 = 0
  /// The capture period in nanoseconds.
  public var capturePeriodNanoseconds: Int64 = 0
  /// The delay of the microphone's rate conversion and filters, in nanoseconds.
  public var captureProcessingNanoseconds: Int64 = 0
  /// The delay of the loudspeaker's rate conversion, in nanoseconds.
  public var playbackProcessingNanoseconds: Int64 = 0
  /// The highest microphone level, 0 to 1, since the statistics were last read.
  public var inputPeak: Float = 0
  /// True when the microphone or the loudspeaker is gone.
  public var isDeviceGone = false
  /// Number of times that a side of the device, or both, was replaced.
  public var deviceChanges = 0
  /// Turns of the voice loop so far.
  public var turns: Int64 = 0

  /// The delay of rate conversion and filters on both sides, in nanoseconds.
  public var processingNanoseconds: Int64 {
    captureProcessingNanoseconds + playbackProcessingNanoseconds
  }

  @_noAllocation @_noLocks
  init() {}
}
