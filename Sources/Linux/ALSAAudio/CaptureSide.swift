import CLinux
import MediaCore
import RealTime

/// The microphone half of a headset: a card or a virtual one.
struct CaptureSide: ~Copyable {
  let rate: SampleRate
  let period: FrameCount
  let name: DeviceName
  /// True if the frames go through a sound server; false for a kernel card or a virtual device.
  let isOfServer: Bool
  /// True if the frames go through PipeWire's ALSA plugin.
  let isOfPipeWire: Bool
  private var pcm: PCM?
  /// True once the card is gone; it is no longer polled, as its descriptor would end every poll.
  private var isGone = false
  private var microphone: VirtualMicrophone?

  init(_ name: DeviceName, wishes: DeviceWishes) throws(AudioDeviceError) {
    switch name {
    case .pcm(let card):
      let pcm = try PCM.open(card, direction: .capture, wishes: wishes)
      self.init(name, pcm)
    case .file(let path):
      let microphone = try VirtualMicrophone(path: path, wishes: wishes)
      self.init(name, microphone)
    case .null:
      let microphone = try VirtualMicrophone(wishes: wishes)
      self.init(name, microphone)
    }
  }

  private init(_ name: DeviceName, _ pcm: consuming PCM) {
    self.name = name
    rate = pcm.rate
    period = pcm.period
    isOfServer = pcm.isOfServer
    isOfPipeWire = pcm.isOfPipeWire
    self.pcm = consume pcm
    microphone = nil
  }

  private init(_ name: DeviceName, _ microphone: consuming VirtualMicrophone) {
    self.name = name
    rate = microphone.rate
    period = microphone.rate.frames(inNanoseconds: microphone.clock.periodNanoseconds)
    pcm = nil
    isOfServer = false
    isOfPipeWire = false
    self.microphone = consume microphone
  }

  mutating func start() throws(AudioDeviceError) {
    microphone?.clock.start(at: MonotonicClock.now())
    if let pcm = pcm.take() { self.pcm = try pcm.started(fill: 0, name: name.description) }
  }

  mutating func pollDescriptors(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int {
    guard !isGone else { return 0 }
    if let count = pcm?.pollDescriptors(&descriptors, from: first) { return count }
    return microphone?.clock.pollDescriptor(&descriptors, at: first) ?? 0
  }

  @_noAllocation @_noLocks
  mutating func acknowledge(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int,
    count: Int
  ) {
    pcm?.acknowledge(&descriptors, from: first, count: count)
    microphone?.clock.acknowledge()
  }

  @_noAllocation @_noLocks
  mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
    if let transfer = pcm?.read(into: &block) {
      isGone = transfer.isGone
      return transfer
    }
    if let transfer = microphone?.read(into: &block) { return transfer }
    return DeviceTransfer(frames: 0, isGone: true)
  }

  @_noAllocation @_noLocks
  mutating func pendingFrames() -> FrameCount {
    if let frames = pcm?.delayFrames() { return frames }
    return microphone?.pendingFrames() ?? 0
  }
}
