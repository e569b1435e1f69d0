package import CLinux
package import MediaCore
package import RealTime

/// A scripted sound card as the voice loop sees it; its sides may be of two.
package struct ScriptedHeadset: AudioDevice, ~Copyable {
  private var microphone: ScriptedSoundCard
  private var loudspeaker: ScriptedSoundCard
  private let opened: StreamDirections

  /// Whether both sides are of one card, with one crystal.
  package var isOneDevice: Bool {
    microphone === loudspeaker
      && loudspeaker.script.captureDrift == loudspeaker.script.playbackDrift
  }

  /// The card, with `sides` of it to be started.
  package init(_ card: ScriptedSoundCard, sides: StreamDirections = .both) {
    microphone = card
    loudspeaker = card
    opened = sides
  }

  /// The rate of the microphone as it says itself; the crystal may think otherwise.
  package var captureRate: SampleRate { .voice }
  /// The rate of the loudspeaker as it says itself.
  package var playbackRate: SampleRate { .voice }
  /// Frames that the microphone delivers at a time.
  package var capturePeriod: FrameCount { microphone.script.period }
  /// Frames that the loudspeaker takes at a time.
  package var playbackPeriod: FrameCount { loudspeaker.script.period }
  /// The most frames that the loudspeaker can have queued.
  package var playbackCapacity: FrameCount { ScriptedSoundCard.capacity }

  /// Starts both directions.
  package mutating func start(fill: FrameCount) throws(AudioDeviceError) {
    microphone.start(opened, fill: fill)
  }

  /// Nothing waits for it: the simulation knows when it is ready.
  package mutating func pollDescriptors(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int { 0 }

  /// Does nothing.
  package mutating func acknowledge(_ descriptors: inout FixedArray<pollfd>, from first: Int) {}

  /// What the microphone has captured in whole periods.
  package mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
    microphone.read(into: &block)
  }

  /// Queues frames for the loudspeaker.
  package mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer
  {
    loudspeaker.write(block, count: count)
  }

  /// Frames that have not sounded.
  package mutating func queuedFrames() -> FrameCount { loudspeaker.queuedFrames }
  /// The same: nothing lies beyond the ring.
  package mutating func playbackDelayFrames() -> FrameCount { loudspeaker.queuedFrames }
  /// Frames sampled and not read.
  package mutating func pendingFrames() -> FrameCount { microphone.pendingFrames }

  /// Exchanges these sides with those of `other`.
  package mutating func exchange(_ sides: StreamDirections, with other: inout ScriptedHeadset) {
    if sides.contains(.capture) { swap(&microphone, &other.microphone) }
    if sides.contains(.playback) { swap(&loudspeaker, &other.loudspeaker) }
  }
}
