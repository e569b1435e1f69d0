import CALSA
import CLinux
import MediaCore
import RealTime

/// One open direction of a sound card: mono float outside, the card's own format inside.
///
/// **Life cycle:** opened and configured by `open`, started by `started`, closed by `deinit`. None
/// of them waits for long for a device that hangs (`DeviceLimit`).
/// **Thread safety:** one thread at a time.
@safe
struct PCM: ~Copyable {
  enum Direction: Sendable { case capture, playback }

  let rate: SampleRate
  let period: FrameCount

  private let handle: OpaquePointer
  private let direction: Direction
  private let format: SampleFormat
  private let channels: Int
  let bufferFrames: FrameCount
  /// True if the PCM belongs to a sound server: neither to a kernel card nor to a plugin over one.
  let isOfServer: Bool
  let isOfPipeWire: Bool
  private var bytes: FixedBytes
  private var voiceChannel: VoiceChannel
  private var lastTransfer: MonotonicInstant
  /// Frames in the ring when it was last looked at; `leftFrames` are those after the last transfer.
  private var seenFrames = 0
  private var leftFrames = 0
  /// This stream's own descriptors, for events that a plugin handles outside of a poll.
  private var descriptors = FixedArray<pollfd>(repeating: pollfd(), count: 8)
  private var descriptorCount = 0
  private var writes = 0
  /// Restarts in a row, each at once after the one before, since frames were last moved.
  private var restarts = 0
  private var lastRestart = MonotonicInstant(nanoseconds: 0)

  /// Most frames that are moved in one call.
  static var blockFrames: FrameCount { @_noAllocation @_noLocks get { 4_096 } }
  /// Most restarts in quick succession without any frames moved; after more, the device counts as
  /// gone, since its server has died.
  ///
  /// Underruns on a busy machine are further apart.
  private static var hopelessRestarts: Int { @_noAllocation @_noLocks get { 8 } }
  private static var atOnceNanoseconds: Int64 { @_noAllocation @_noLocks get { 1_000_000 } }
  /// Length of the ring buffer to ask for; how much of it is used is up to the fill control.
  private static let bufferNanoseconds: Int64 = 80_000_000

  /// Opens and configures the device of that name.
  static func open(
    _ name: String,
    direction: Direction,
    wishes: DeviceWishes
  ) throws(AudioDeviceError) -> PCM {
    try DeviceLimit.perform("snd_pcm_open", on: name) {
      do throws(AudioDeviceError) {
        return .success(try PCM(opening: name, direction: direction, wishes: wishes))
      } catch {
        return .failure(error)
      }
    }
  }

  private init(
    opening name: String,
    direction: Direction,
    wishes: DeviceWishes
  ) throws(AudioDeviceError) {
    AlsaMessage.silence()
    let stream = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
    var opened: OpaquePointer?
    let code = unsafe snd_pcm_open(&opened, name, stream, CInt(SND_PCM_NONBLOCK))
    guard code == 0, let handle = unsafe opened else {
      throw Self.error(device: name, operation: "snd_pcm_open", code: code)
        .naming(AlsaMessage.take())
    }
    let setting: Setting
    do throws(AudioDeviceError) {
      setting = try unsafe Self.configure(
        handle,
        name: name,
        wishes: wishes
      )
    } catch {
      _ = unsafe snd_pcm_close(handle)
      throw error
    }
    unsafe self.handle = handle
    self.direction = direction
    rate = setting.rate
    period = setting.period
    format = setting.format
    channels = setting.channels
    bufferFrames = setting.buffer
    isOfServer = unsafe Self.card(of: handle) < 0
    isOfPipeWire = setting.isOfPipeWire
    bytes = FixedBytes(
      repeating: 0,
      count: Self.blockFrames * setting.channels * setting.format.bytesPerSample
    )
    voiceChannel = VoiceChannel(of: setting.channels)
    lastTransfer = MonotonicClock.now()
  }

  deinit {
    let closing = unsafe Closing(handle: handle)
    DeviceLimit.performClosing { closing.perform() }
  }

  /// The stream, started; playback begins with `fill` frames of silence.
  ///
  /// Throws the device's error, and the device is closed then.
  consuming func started(fill: FrameCount, name: String) throws(AudioDeviceError) -> PCM {
    let parcel = Parcel(self)
    // With real-time scheduling where that is permitted: a loudspeaker runs from here on.
    return try DeviceLimit.perform("snd_pcm_start", on: name, policy: .realTime) {
      guard var pcm = parcel.take() else { return .failure(Self.error(starting: name, -EBADFD)) }
      do throws(AudioDeviceError) {
        try pcm.start(fill: fill, name: name)
        return .success(pcm)
      } catch {
        return .failure(error)
      }
    }
  }

  private mutating func start(fill: FrameCount, name: String) throws(AudioDeviceError) {
    descriptorCount = unsafe Self.pollDescriptors(of: handle, &descriptors, from: 0)
    let code = restart(fill: fill)
    guard code >= 0 else { throw Self.error(starting: name, code) }
  }

  func pollDescriptors(_ descriptors: inout FixedArray<pollfd>, from first: Int) -> Int {
    unsafe Self.pollDescriptors(of: handle, &descriptors, from: first)
  }

  @_noAllocation @_noLocks
  private static func pollDescriptors(
    of handle: OpaquePointer,
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int {
    let space = CInt(truncatingIfNeeded: descriptors.count - first)
    return unsafe Int(alsa_poll_descriptors(handle, descriptors.address + first, space))
  }

  @_noAllocation @_noLocks
  mutating func acknowledge(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int,
    count: Int
  ) {
    guard count > 0, first + count <= descriptors.count else { return }
    unsafe alsa_acknowledge(
      handle,
      descriptors.address + first,
      UInt32(truncatingIfNeeded: count)
    )
  }

  /// Lets a plugin handle the events of its descriptors, without waiting for them.
  ///
  /// A loudspeaker is never waited for: its buffer is always far from full, so a poll for room
  /// would not sleep. Once in eight turns is often enough, and saves a system call in the others.
  @_noAllocation @_noLocks
  mutating func acknowledgeUnwaited() {
    writes = (writes + 1) % 8
    if writes == 0 { acknowledgePending() }
  }

  // The descriptors' real events: a plugin that is passed a spurious event may wait for
  // it.
  @_noAllocation @_noLocks
  private mutating func acknowledgePending() {
    guard descriptorCount > 0 else { return }
    let count = UInt32(truncatingIfNeeded: descriptorCount)
    _ = unsafe realtime_poll(descriptors.address, count, 0)
    unsafe alsa_acknowledge(handle, descriptors.address, count)
  }

  /// Frames in the ring: queued for playback, or captured and not yet read; 0 after an xrun.
  ///
  /// `delayFrames` calls it first, since it updates the hardware pointer and detects an xrun, in
  /// which some plugins still return the old delay. The next transfer recovers from the xrun.
  @_noAllocation @_noLocks
  mutating func ringFrames() -> FrameCount {
    let available = unsafe alsa_available(handle)
    guard available >= 0 else { return 0 }
    seenFrames = direction == .capture ? available : max(0, bufferFrames - available)
    return seenFrames
  }

  /// Frames between the program and the transducer, including those beyond the ring.
  @_noAllocation @_noLocks
  mutating func delayFrames() -> FrameCount {
    let ring = ringFrames()
    let delay = unsafe alsa_delay(handle)
    // A second is more than any server keeps; some plugins answer nonsense.
    return delay < ring || delay > rate.hertz ? ring : delay
  }

  @_noAllocation @_noLocks
  mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
    let now = MonotonicClock.now()
    let wanted = min(block.count, Self.blockFrames)
    let moved = unsafe alsa_read(handle, bytes.address, UInt(wanted))
    if moved == -Int(EAGAIN) {
      // A plugin's descriptor stays readable after all frames have been read, until the plugin
      // looks at it (JACK) or is asked for it once more (PipeWire): without this the next poll
      // would return at once.
      acknowledgePending()
      _ = unsafe Self.pollDescriptors(of: handle, &descriptors, from: 0)
      return DeviceTransfer(frames: 0)
    }
    guard moved >= 0 else {
      return recover(from: CInt(truncatingIfNeeded: moved), fill: 0, at: now)
    }
    lastTransfer = now
    restarts = 0
    let size = format.bytesPerSample
    if channels == 1, format.isFloat {
      format.load(bytes, count: moved, into: &block)
      return DeviceTransfer(frames: moved)
    }
    if channels > 1 {
      for index in 0..<moved * channels {
        voiceChannel.note(format.load(bytes, at: index * size), on: index % channels)
      }
      voiceChannel.choose(after: rate.nanoseconds(of: moved))
    }
    for frame in 0..<moved {
      block[frame] = format.load(bytes, at: (frame * channels + voiceChannel.chosen) * size)
    }
    return DeviceTransfer(frames: moved)
  }

  @_noAllocation @_noLocks
  mutating func write(
    _ block: borrowing SampleBuffer,
    count: FrameCount,
    fill: FrameCount
  ) -> DeviceTransfer {
    let now = MonotonicClock.now()
    let wanted = min(count, Self.blockFrames)
    let size = format.bytesPerSample
    let isPlain = channels == 1 && format.isFloat
    if isPlain { format.store(block, count: wanted, to: &bytes) }
    for frame in 0..<(isPlain ? 0 : wanted) {
      for channel in 0..<channels {
        format.store(block[frame], to: &bytes, at: (frame * channels + channel) * size)
      }
    }
    let moved = unsafe alsa_write(handle, bytes.address, UInt(wanted))
    if moved == -Int(EAGAIN) { return DeviceTransfer(frames: 0) }
    guard moved >= 0 else {
      return recover(from: CInt(truncatingIfNeeded: moved), fill: fill, at: now)
    }
    lastTransfer = now
    leftFrames = seenFrames + moved
    restarts = 0
    return DeviceTransfer(frames: moved)
  }

  // After an overrun or underrun the stream starts anew. What was captured since the last transfer
  // is lost; a loudspeaker still sounded what it had, and now begins with silence.
  @_noAllocation @_noLocks
  private mutating func recover(
    from code: CInt,
    fill: FrameCount,
    at now: MonotonicInstant
  ) -> DeviceTransfer {
    let isAtOnce = now.nanoseconds(since: lastRestart) < Self.atOnceNanoseconds
    restarts = isAtOnce ? restarts + 1 : 1
    lastRestart = now
    guard restarts <= Self.hopelessRestarts else { return DeviceTransfer(frames: 0, isGone: true) }
    let before = lastTransfer
    lastTransfer = now
    var known = 0
    switch -code {
    case EPIPE, EBADFD:
      if direction == .playback { known = fill - leftFrames }
      guard restart(fill: fill) >= 0 else { return DeviceTransfer(frames: 0, isGone: true) }
    case ESTRPIPE:
      let resumed = unsafe alsa_resume(handle)
      if resumed == -EAGAIN || resumed == -EINTR {
        lastTransfer = before
        return DeviceTransfer(frames: 0)
      }
      if resumed == 0 { break }
      guard restart(fill: fill) >= 0 else { return DeviceTransfer(frames: 0, isGone: true) }
    case EINTR:
      lastTransfer = before
      return DeviceTransfer(frames: 0)
    default:
      return DeviceTransfer(frames: 0, isGone: true)
    }
    let passed = rate.frames(inNanoseconds: max(0, lastTransfer.nanoseconds(since: before)))
    return DeviceTransfer(frames: 0, lost: max(1, passed + known))
  }

  @_noAllocation @_noLocks
  private mutating func restart(fill: FrameCount) -> CInt {
    var code = unsafe alsa_prepare(handle)
    guard code >= 0 else { return code }
    if direction == .playback {
      let silent = min(fill, Self.blockFrames) * channels * format.bytesPerSample
      for index in 0..<silent { bytes[index] = 0 }
      let written = unsafe alsa_write(handle, bytes.address, UInt(min(fill, Self.blockFrames)))
      guard written >= 0 else { return CInt(truncatingIfNeeded: written) }
      leftFrames = written
      seenFrames = written
      lastTransfer = MonotonicClock.now()
      // A card with nothing to play cannot be started: the first frames do that.
      guard written > 0 else { return 0 }
    }
    code = unsafe alsa_start(handle)
    lastTransfer = MonotonicClock.now()
    // The write has started it already.
    return code == -EBADFD && direction == .playback ? 0 : code
  }
}

/// A stream to be closed, which nothing else uses any more.
// SAFETY: made by the last owner of the stream, and performed once.
@safe
private struct Closing: @unchecked Sendable {
  let handle: OpaquePointer

  func perform() {
    // Drop, never drain: draining a device that is gone can hang.
    _ = unsafe snd_pcm_drop(handle)
    _ = unsafe snd_pcm_close(handle)
  }
}

// SAFETY: alsa-lib lets one thread at a time use a PCM; ~Copyable makes that thread the only owner.
extension PCM: @unchecked Sendable {}

extension PCM {
  private struct Setting {
    var format: SampleFormat
    var channels: Int
    var rate: SampleRate
    var period: FrameCount
    var buffer: FrameCount
    var isOfPipeWire: Bool
  }

  private static func configure(
    _ handle: OpaquePointer,
    name: String,
    wishes: DeviceWishes
  ) throws(AudioDeviceError) -> Setting {
    func check(_ code: CInt, _ operation: String) throws(AudioDeviceError) {
      guard code < 0 else { return }
      throw error(device: name, operation: operation, code: code)
    }

    var hardware: OpaquePointer?
    try unsafe check(snd_pcm_hw_params_malloc(&hardware), "snd_pcm_hw_params_malloc")
    defer { unsafe snd_pcm_hw_params_free(hardware) }
    try unsafe check(snd_pcm_hw_params_any(handle, hardware), "snd_pcm_hw_params_any")
    // alsa-lib's own rate converter is poor: take the native rate and convert ourselves.
    _ = unsafe snd_pcm_hw_params_set_rate_resample(handle, hardware, 0)
    try unsafe check(
      snd_pcm_hw_params_set_access(handle, hardware, SND_PCM_ACCESS_RW_INTERLEAVED),
      "snd_pcm_hw_params_set_access"
    )

    let format = SampleFormat.allCases.first { format in
      unsafe snd_pcm_hw_params_test_format(handle, hardware, format.alsa) == 0
    }
    guard let format else {
      throw AudioDeviceError(
        kind: .unsupportedFormat,
        device: name,
        operation: "snd_pcm_hw_params_test_format",
        reason: "it offers none of the sample formats S16, S24, S32 and float"
      )
    }
    try unsafe check(
      snd_pcm_hw_params_set_format(handle, hardware, format.alsa),
      "snd_pcm_hw_params_set_format"
    )

    var channels: UInt32 = 1
    try unsafe check(
      snd_pcm_hw_params_set_channels_near(handle, hardware, &channels),
      "snd_pcm_hw_params_set_channels_near"
    )
    var rate = UInt32(clamping: wishes.rate.hertz)
    try unsafe check(
      snd_pcm_hw_params_set_rate_near(handle, hardware, &rate, nil),
      "snd_pcm_hw_params_set_rate_near"
    )
    guard rate > 0 else { throw error(device: name, operation: "rate", code: -EINVAL) }
    let granted = SampleRate(hertz: Int(rate))

    let isOfPipeWire = unsafe isOfPipeWire(handle)
    let cycle = isOfPipeWire ? PipeWireCycle.least() : 0
    let shortest = granted.frames(inNanoseconds: max(wishes.periodNanoseconds, cycle))
    let wished = UInt(min(max(16, shortest), blockFrames))
    var period = wished
    try unsafe check(
      snd_pcm_hw_params_set_period_size_near(handle, hardware, &period, nil),
      "snd_pcm_hw_params_set_period_size_near"
    )
    var buffer = max(
      4 * max(period, wished),
      UInt(granted.frames(inNanoseconds: bufferNanoseconds))
    )
    try unsafe check(
      snd_pcm_hw_params_set_buffer_size_near(handle, hardware, &buffer),
      "snd_pcm_hw_params_set_buffer_size_near"
    )
    // More than the voice path takes at once: a part of each period would be missing.
    guard period <= UInt(blockFrames) else {
      throw AudioDeviceError(
        kind: .unsupportedFormat,
        device: name,
        operation: "period",
        reason: "its periods have \(period) frames, and \(blockFrames) are the most that are taken"
      )
    }
    try unsafe check(snd_pcm_hw_params(handle, hardware), "snd_pcm_hw_params")

    // A server's period may be shorter than asked for: then we are woken after several, since each
    // time costs the processor.
    if period > 0 {
      let most = max(1, buffer / 4 / period)
      period *= min(most, max(1, (wished + period / 2) / period))
    }
    try unsafe configureSoftware(handle, period: period, check: check)
    return Setting(
      format: format,
      channels: Int(channels),
      rate: granted,
      period: Int(period),
      buffer: Int(buffer),
      isOfPipeWire: isOfPipeWire
    )
  }

  private static func configureSoftware(
    _ handle: OpaquePointer,
    period: UInt,
    check: (CInt, String) throws(AudioDeviceError) -> Void
  ) throws(AudioDeviceError) {
    var software: OpaquePointer?
    try unsafe check(snd_pcm_sw_params_malloc(&software), "snd_pcm_sw_params_malloc")
    defer { unsafe snd_pcm_sw_params_free(software) }
    try unsafe check(snd_pcm_sw_params_current(handle, software), "snd_pcm_sw_params_current")
    // Started by the one write that queues the silence, since PulseAudio's plugin makes the server
    // wait for as much as the threshold; stopped when it runs dry, so that we learn of it.
    try unsafe check(
      snd_pcm_sw_params_set_start_threshold(handle, software, 1),
      "snd_pcm_sw_params_set_start_threshold"
    )
    try unsafe check(
      snd_pcm_sw_params_set_avail_min(handle, software, period),
      "snd_pcm_sw_params_set_avail_min"
    )
    try unsafe check(snd_pcm_sw_params(handle, software), "snd_pcm_sw_params")
  }

  /// The number of the card that a PCM belongs to; negative if it belongs to none, 0 if it cannot
  /// be asked.
  private static func card(of handle: OpaquePointer) -> CInt {
    var information: OpaquePointer?
    guard unsafe snd_pcm_info_malloc(&information) == 0 else { return 0 }
    defer { unsafe snd_pcm_info_free(information) }
    guard unsafe snd_pcm_info(handle, information) == 0 else { return 0 }
    return unsafe snd_pcm_info_get_card(information)
  }

  private static func error(starting name: String, _ code: CInt) -> AudioDeviceError {
    error(device: name, operation: "snd_pcm_start", code: code)
  }
}
