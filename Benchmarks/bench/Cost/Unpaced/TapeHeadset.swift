import CLinux
import MediaCore
import RealTime

/// A headset that captures a recording from memory and discards playback, in whole periods of a
/// time of its own.
struct TapeHeadset: AudioDevice, ~Copyable {
  let capturePeriod: FrameCount
  private let time: SkippedTime
  private let begin: MonotonicInstant
  private let speech: SampleBuffer
  private var taken = 0
  private var written = 0

  var captureRate: SampleRate { .voice }
  var playbackRate: SampleRate { .voice }
  var playbackPeriod: FrameCount { capturePeriod }
  var playbackCapacity: FrameCount { 4_800 }
  var isOneDevice: Bool { false }

  /// Hears `speech` over and over from `begin` on.
  init(_ speech: [Float], period: FrameCount, from begin: MonotonicInstant, in time: SkippedTime) {
    self.speech = SampleBuffer(speech)
    self.time = time
    self.begin = begin
    capturePeriod = period
  }

  // The device is no part of what is measured, so it does not ask the clock.
  private var passed: FrameCount {
    let frames = captureRate.frames(
      inNanoseconds: max(0, time.reached.nanoseconds(since: begin))
    )
    return frames / capturePeriod * capturePeriod
  }

  mutating func start(fill: FrameCount) throws(AudioDeviceError) { written = passed + fill }

  mutating func pollDescriptors(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int { 0 }

  mutating func acknowledge(_ descriptors: inout FixedArray<pollfd>, from first: Int) {}

  mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
    let frames = min(block.count, passed - taken)
    guard frames > 0 else { return DeviceTransfer(frames: 0) }
    let start = taken % (speech.count - block.count)
    block.copy(from: speech, at: start, count: frames)
    taken += frames
    return DeviceTransfer(frames: frames)
  }

  mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer {
    let late = max(0, passed - written)
    written += late + count
    return DeviceTransfer(frames: count, lost: late)
  }

  mutating func queuedFrames() -> FrameCount { max(0, written - passed) }
  mutating func playbackDelayFrames() -> FrameCount { queuedFrames() }
  mutating func pendingFrames() -> FrameCount { passed - taken }

  mutating func exchange(_ sides: StreamDirections, with other: inout TapeHeadset) {
    swap(&self, &other)
  }
}
