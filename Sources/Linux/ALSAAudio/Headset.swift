public import CLinux
public import MediaCore
public import RealTime

/// Settings to ask a sound card for; it grants the nearest that it has.
package struct DeviceWishes: Equatable, Sendable {
  /// Interval at which the card moves sound, in nanoseconds.
  package var periodNanoseconds: Int64
  /// Sample rate of the card.
  package var rate: SampleRate

  /// True if the card is first set up by its profile of ALSA's Use Case Manager, if it has one.
  ///
  /// For machines without a sound server, which would have done that: its levels become those of
  /// the profile.
  package var usesProfile: Bool

  /// The period of the shortest Opus frame and the codec's rate, unless others are given.
  package init(
    periodNanoseconds: Int64 = 2_500_000,
    rate: SampleRate = .voice,
    usesProfile: Bool = false
  ) {
    self.periodNanoseconds = periodNanoseconds
    self.rate = rate
    self.usesProfile = usesProfile
  }
}

/// A microphone and a loudspeaker: sound cards, sound-server plugins or files, in any combination.
///
/// **Life cycle:** opened by the initialiser, started once, released by `deinit`.
/// **Thread safety:** opened on one thread, then used by the voice thread only.
public struct Headset: AudioDevice, ~Copyable {
  private var capture: CaptureSide
  private var playback: PlaybackSide
  private var captureDescriptors = 0

  /// The rate of `read`.
  public var captureRate: SampleRate { capture.rate }
  /// The rate of `write` and `queuedFrames`.
  public var playbackRate: SampleRate { playback.rate }
  /// Frames that the microphone delivers at a time.
  public var capturePeriod: FrameCount { capture.period }
  /// Frames that the loudspeaker takes at a time.
  public var playbackPeriod: FrameCount { playback.period }

  /// The most frames that the loudspeaker can have queued.
  public var playbackCapacity: FrameCount { playback.capacity }

  /// True if both directions are the same device of a sound server.
  public private(set) var isOneDevice: Bool

  /// The sides whose sound goes through PipeWire's ALSA plugin.
  package var sidesOfPipeWire: StreamDirections {
    var sides: StreamDirections = []
    if capture.isOfPipeWire { sides.formUnion(.capture) }
    if playback.isOfPipeWire { sides.formUnion(.playback) }
    return sides
  }

  /// Opens both directions.
  ///
  /// - Parameters:
  ///   - capture: the microphone.
  ///   - playback: the loudspeaker.
  ///   - wishes: the rate and period to ask for; a card grants the nearest that it has.
  /// - Throws: the error of the device or file.
  package init(
    capture: DeviceName,
    playback: DeviceName,
    wishes: DeviceWishes = DeviceWishes()
  ) throws(AudioDeviceError) {
    if wishes.usesProfile { CardProfile.setUp(capture: capture, playback: playback) }
    let microphone = try CaptureSide(capture, wishes: wishes)
    let loudspeaker = try PlaybackSide(playback, wishes: wishes)
    self.capture = microphone
    self.playback = loudspeaker
    isOneDevice = Self.isOneServer(self.capture, self.playback)
  }

  /// Starts both directions with `fill` frames of silence queued for playback.
  public mutating func start(fill: FrameCount) throws(AudioDeviceError) {
    // The loudspeaker last: from its start on, its queue runs dry.
    try capture.start()
    try playback.start(fill: fill)
  }

  /// Writes the descriptors to poll into `descriptors`, from index `first` on, and returns their
  /// number, 8 at most.
  public mutating func pollDescriptors(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int {
    captureDescriptors = capture.pollDescriptors(&descriptors, from: first)
    // The microphone wakes the loop often enough for the loudspeaker.
    if captureDescriptors > 0 { return captureDescriptors }
    return playback.pollDescriptors(&descriptors, from: first)
  }

  /// Translates the events that poll returned in the descriptors that `pollDescriptors` wrote.
  @_noAllocation @_noLocks
  public mutating func acknowledge(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) {
    capture.acknowledge(&descriptors, from: first, count: captureDescriptors)
    playback.acknowledge()
  }

  /// Reads the frames that the microphone has, without waiting, into `block`.
  @_noAllocation @_noLocks
  public mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
    capture.read(into: &block)
  }

  /// Queues the first `count` frames of `block` for the loudspeaker.
  @_noAllocation @_noLocks
  public mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer {
    playback.write(block, count: count)
  }

  /// Frames written and not yet taken by the device: the fill that the program controls.
  @_noAllocation @_noLocks
  public mutating func queuedFrames() -> FrameCount {
    playback.queuedFrames()
  }

  /// Frames between the next sample written and the loudspeaker, including those beyond the ring.
  @_noAllocation @_noLocks
  public mutating func playbackDelayFrames() -> FrameCount {
    playback.delayFrames()
  }

  /// Frames between the microphone and the last sample read.
  @_noAllocation @_noLocks
  public mutating func pendingFrames() -> FrameCount {
    capture.pendingFrames()
  }

  /// Exchanges these sides with those of `other`.
  public mutating func exchange(_ sides: StreamDirections, with other: inout Headset) {
    if sides.contains(.capture) {
      swap(&capture, &other.capture)
      swap(&captureDescriptors, &other.captureDescriptors)
    }
    if sides.contains(.playback) { swap(&playback, &other.playback) }
    isOneDevice = Self.isOneServer(capture, playback)
    other.isOneDevice = Self.isOneServer(other.capture, other.playback)
  }

  // A card reports its pointer at interrupts; it may be anywhere between them.
  private static func isOneServer(
    _ capture: borrowing CaptureSide,
    _ playback: borrowing PlaybackSide
  ) -> Bool {
    capture.isOfServer && playback.isOfServer && capture.name == playback.name
  }
}
