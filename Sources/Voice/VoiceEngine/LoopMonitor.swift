import MediaCore
import RealTime

/// What the loop records, and plays, for measurements.
///
/// **Thread safety:** the voice thread's alone.
struct LoopMonitor: ~Copyable {
  private let isProbing: Bool
  private var capture: RingProducer<Float>?
  private var playback: RingProducer<Float>?
  private var chirp = SampleBuffer(ProbeSignal.chirp())

  /// Records what is captured and played to the rings that are given.
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

  /// Records what is to be played; a probe puts its chirps in the place of that, of which the first
  /// frame is at `position` since the beginning.
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
