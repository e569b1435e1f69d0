import MediaCore
import RealTime

/// Recorder of captured and played sound, and source of a probe's chirps, for measurements.
///
/// **Thread safety:** the voice thread only.
struct LoopMonitor: ~Copyable {
  private let isProbing: Bool
  private var capture: RingProducer<Float>?
  private var playback: RingProducer<Float>?
  private var chirp = SampleBuffer(ProbeSignal.chirp())

  /// Creates a monitor that records captured and played sound to the rings given.
  init(
    _ settings: EngineSettings,
    capture: consuming RingProducer<Float>?,
    playback: consuming RingProducer<Float>?
  ) {
    isProbing = settings.measurement == .probe
    self.capture = capture
    self.playback = playback
  }

  // A full ring ends the recording of a measurement, not the call.

  @_noAllocation @_noLocks
  mutating func noteCaptured(_ samples: borrowing SampleBuffer, count: FrameCount) {
    _ = capture?.write(samples, count: count)
  }

  @_noAllocation @_noLocks
  mutating func noteCaptured(silence frames: FrameCount) {
    _ = capture?.write(repeating: 0, count: frames)
  }

  @_noAllocation @_noLocks
  mutating func notePlayed(silence frames: FrameCount) {
    _ = playback?.write(repeating: 0, count: frames)
  }

  /// Records the sound to play; a probe then replaces it with its chirps.
  ///
  /// The first frame is at `position` since the beginning.
  mutating func notePlayed(
    _ samples: inout SampleBuffer,
    count: FrameCount,
    at position: Int64
  ) {
    guard playback != nil else { return }
    _ = playback?.write(samples, count: count)
    guard isProbing else { return }
    for index in 0..<count {
      let place = Int(position + Int64(index)) % ProbeSignal.intervalFrames
      samples[index] = place < ProbeSignal.chirpFrames ? chirp[place] : 0
    }
  }
}
