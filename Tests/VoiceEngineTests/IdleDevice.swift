import CLinux
import MediaCore
import RealTime

/// A headset that captures nothing and accepts everything, unless its type says otherwise.
protocol IdleDevice: AudioDevice, ~Copyable {}

extension IdleDevice where Self: ~Copyable {
  var captureRate: SampleRate { .voice }
  var playbackRate: SampleRate { .voice }
  var capturePeriod: FrameCount { 240 }
  var playbackPeriod: FrameCount { 240 }
  var playbackCapacity: FrameCount { 4_800 }
  var isOneDevice: Bool { false }

  mutating func start(fill: FrameCount) throws(AudioDeviceError) {}
  mutating func pollDescriptors(_ all: inout FixedArray<pollfd>, from first: Int) -> Int { 0 }
  @_noAllocation @_noLocks
  mutating func acknowledge(_ descriptors: inout FixedArray<pollfd>, from first: Int) {}
  @_noAllocation @_noLocks
  mutating func read(into block: inout SampleBuffer) -> DeviceTransfer { .init(frames: 0) }
  @_noAllocation @_noLocks
  mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer {
    .init(frames: count)
  }
  @_noAllocation @_noLocks
  mutating func queuedFrames() -> FrameCount { 0 }
  @_noAllocation @_noLocks
  mutating func playbackDelayFrames() -> FrameCount { 0 }
  @_noAllocation @_noLocks
  mutating func pendingFrames() -> FrameCount { 0 }
  mutating func exchange(_ sides: StreamDirections, with other: inout Self) {}
}
