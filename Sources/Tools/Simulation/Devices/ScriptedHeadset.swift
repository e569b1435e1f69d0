package import CLinux
package import MediaCore
package import RealTime

/// Headset of scripted sound cards for the voice loop; its two sides may be of different cards.
package struct ScriptedHeadset: AudioDevice, ~Copyable {
  private var microphone: ScriptedSoundCard
  private var loudspeaker: ScriptedSoundCard
  private let opened: StreamDirections

  /// True if both sides are of one card, with one crystal.
  package var isOneDevice: Bool {
    microphone === loudspeaker
      && loudspeaker.script.captureDrift == loudspeaker.script.playbackDrift
  }

  /// Creates a headset of one card, of which `sides` are to be started.
  package init(_ card: ScriptedSoundCard, sides: StreamDirections = .both) {
    microphone = card
    loudspeaker = card
    opened = sides
  }

  /// Nominal rate of the microphone, from which its crystal may deviate.
  package var captureRate: SampleRate { microphone.script.rate }
  /// Nominal rate of the loudspeaker.
  package var playbackRate: SampleRate { loudspeaker.script.rate }
  /// Frames that the microphone delivers at a time.
  package var capturePeriod: FrameCount { microphone.script.period }
  /// Frames that the loudspeaker takes at a time.
  package var playbackPeriod: FrameCount { loudspeaker.script.period }
  /// The most frames that the loudspeaker can have queued.
  package var playbackCapacity: FrameCount { ScriptedSoundCard.capacity }

  /// Starts the opened sides.
  package mutating func start(fill: FrameCount) throws(AudioDeviceError) {
    microphone.start(opened, fill: fill)
  }

  /// Adds no descriptors: the simulation knows when the card is ready.
  package mutating func pollDescriptors(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int { 0 }

  /// Does nothing.
  package mutating func acknowledge(_ descriptors: inout FixedArray<pollfd>, from first: Int) {}

  /// Reads the frames that the microphone has captured in whole periods.
  package mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
    microphone.read(into: &block)
  }

  /// Queues frames for the loudspeaker.
  package mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer
  {
    loudspeaker.write(block, count: count)
  }

  /// Returns the number of frames written that have not been played.
  package mutating func queuedFrames() -> FrameCount { loudspeaker.queuedFrames }
  /// Returns the same as `queuedFrames`: there is no delay beyond the ring.
  package mutating func playbackDelayFrames() -> FrameCount { loudspeaker.queuedFrames }
  /// Returns the number of frames captured and not read.
  package mutating func pendingFrames() -> FrameCount { microphone.pendingFrames }

  /// Exchanges `sides` with those of `other`.
  package mutating func exchange(_ sides: StreamDirections, with other: inout ScriptedHeadset) {
    if sides.contains(.capture) { swap(&microphone, &other.microphone) }
    if sides.contains(.playback) { swap(&loudspeaker, &other.loudspeaker) }
  }
}
