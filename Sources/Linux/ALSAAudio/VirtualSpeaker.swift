import CLinux
import MediaCore
import RealTime

/// A loudspeaker whose sound is recorded or discarded.
///
/// Sample n of the recording is the sound of the loudspeaker n frames after the start, as a
/// microphone beside a real one would record it: silence wherever nothing was queued in time.
struct VirtualSpeaker: ~Copyable {
  let rate = SampleRate.voice
  var clock: VirtualClock
  private var recorder: WaveRecorder?
  private var written = 0

  /// A loudspeaker whose sound is discarded.
  init(wishes: DeviceWishes) throws(AudioDeviceError) {
    clock = try VirtualClock(
      device: DeviceName.null.description,
      periodNanoseconds: wishes.periodNanoseconds
    )
    recorder = nil
  }

  /// A loudspeaker whose sound is recorded to `path`.
  init(path: String, wishes: DeviceWishes) throws(AudioDeviceError) {
    let timer = try VirtualClock(
      device: DeviceName.file(path).description,
      periodNanoseconds: wishes.periodNanoseconds
    )
    let recorder = try WaveRecorder(path: path, rate: .voice)
    clock = timer
    self.recorder = consume recorder
  }

  mutating func start(fill: FrameCount, at now: MonotonicInstant) {
    clock.start(at: now)
    putSilence(fill)
  }

  @_noAllocation @_noLocks
  mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer {
    let late = max(0, clock.frames(at: MonotonicClock.now(), rate: rate) - written)
    putSilence(late)
    recorder?.write(block, count: count)
    written += count
    return DeviceTransfer(frames: count, lost: late)
  }

  @_noAllocation @_noLocks
  mutating func queuedFrames() -> FrameCount {
    max(0, written - clock.frames(at: MonotonicClock.now(), rate: rate))
  }

  @_noAllocation @_noLocks
  private mutating func putSilence(_ count: FrameCount) {
    recorder?.writeSilence(count)
    written += count
  }
}
