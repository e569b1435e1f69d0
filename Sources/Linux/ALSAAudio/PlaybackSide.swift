import CLinux
import MediaCore
import RealTime

/// The loudspeaker half of a headset: a card or a virtual one.
struct PlaybackSide: ~Copyable {
  let rate: SampleRate
  let period: FrameCount
  /// Most frames that can be queued.
  let capacity: FrameCount
  let name: DeviceName
  /// True if the frames go through a sound server; false for a kernel card or a virtual device.
  let isOfServer: Bool
  /// True if the frames go through PipeWire's ALSA plugin.
  let isOfPipeWire: Bool
  private var pcm: PCM?
  /// True once the card is gone; its events are no longer handled.
  private var isGone = false
  private var speaker: VirtualSpeaker?
  private var isWaitedFor = false
  /// Frames of silence queued at the start, and again after a fault.
  private var fill = 0

  init(_ name: DeviceName, wishes: DeviceWishes) throws(AudioDeviceError) {
    switch name {
    case .pcm(let card):
      let pcm = try PCM.open(card, direction: .playback, wishes: wishes)
      self.init(name, pcm)
    case .file(let path):
      let speaker = try VirtualSpeaker(path: path, wishes: wishes)
      self.init(name, speaker)
    case .null:
      let speaker = try VirtualSpeaker(wishes: wishes)
      self.init(name, speaker)
    }
  }

  private init(_ name: DeviceName, _ pcm: consuming PCM) {
    self.name = name
    rate = pcm.rate
    period = pcm.period
    capacity = pcm.bufferFrames
    isOfServer = pcm.isOfServer
    isOfPipeWire = pcm.isOfPipeWire
    self.pcm = consume pcm
    speaker = nil
  }

  private init(_ name: DeviceName, _ speaker: consuming VirtualSpeaker) {
    self.name = name
    rate = speaker.rate
    capacity = speaker.rate.hertz
    period = speaker.rate.frames(inNanoseconds: speaker.clock.periodNanoseconds)
    pcm = nil
    isOfServer = false
    isOfPipeWire = false
    self.speaker = consume speaker
  }

  mutating func start(fill: FrameCount) throws(AudioDeviceError) {
    self.fill = fill
    speaker?.start(fill: fill, at: MonotonicClock.now())
    if let pcm = pcm.take() { self.pcm = try pcm.started(fill: fill, name: name.description) }
  }

  mutating func pollDescriptors(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int {
    let count = speaker?.clock.pollDescriptor(&descriptors, at: first) ?? 0
    isWaitedFor = count > 0
    return count
  }

  @_noAllocation @_noLocks
  mutating func acknowledge() {
    if !isGone { pcm?.acknowledgeUnwaited() }
    if isWaitedFor { speaker?.clock.acknowledge() }
  }

  @_noAllocation @_noLocks
  mutating func write(
    _ block: borrowing SampleBuffer,
    count: FrameCount
  ) -> DeviceTransfer {
    if let transfer = pcm?.write(block, count: count, fill: fill) {
      isGone = transfer.isGone
      return transfer
    }
    if let transfer = speaker?.write(block, count: count) { return transfer }
    return DeviceTransfer(frames: 0, isGone: true)
  }

  @_noAllocation @_noLocks
  mutating func queuedFrames() -> FrameCount {
    if let frames = pcm?.ringFrames() { return frames }
    return speaker?.queuedFrames() ?? 0
  }

  @_noAllocation @_noLocks
  mutating func delayFrames() -> FrameCount {
    if let frames = pcm?.delayFrames() { return frames }
    return speaker?.queuedFrames() ?? 0
  }
}
