import CLinux
import DeviceTiming
import MediaCore
import RealTime

/// The microphone's side of the loop.
struct LoopMicrophone: ~Copyable {
  var chain: CaptureChain
  /// Fed only while stages are timed.
  var clock: DeviceClock
  var stillness: StallWatchdog
  /// When it last gave something; at first when the loop began.
  var lastRead: MonotonicInstant
  /// Turns since then, up to 2.
  var emptyTurns = 0

  init(
    _ device: borrowing some AudioDevice & ~Copyable,
    _ settings: EngineSettings,
    at now: MonotonicInstant
  ) throws {
    chain = try CaptureChain(rate: device.captureRate, filters: settings.filters)
    let period = device.captureRate.nanoseconds(of: device.capturePeriod)
    clock = DeviceClock(period: SampleRate.voice.frames(inNanoseconds: period), rate: .voice)
    stillness = StallWatchdog(periodNanoseconds: period)
    lastRead = now
  }
}

/// The loudspeaker's side of the loop.
struct LoopLoudspeaker: ~Copyable {
  var chain: PlaybackChain
  var level: PlaybackLevel
  var clock: DeviceClock
  var stillness: StallWatchdog
  /// At the device's rate, since it began.
  var writtenFrames: Int64 = 0
  /// Whether what it asks for next is more than a period's, since its server stood still.
  var isCatchingUp = false

  init(_ device: borrowing some AudioDevice & ~Copyable) throws {
    chain = try PlaybackChain(rate: device.playbackRate)
    level = PlaybackLevel(device)
    clock = DeviceClock(period: device.playbackPeriod, rate: device.playbackRate)
    stillness = StallWatchdog(
      periodNanoseconds: device.playbackRate.nanoseconds(of: device.playbackPeriod)
    )
  }
}

/// What the loop waits for: a signal of its engine, the device, or the time to go on anyway.
///
/// A device that says again and again that it is ready, and then neither has nor takes a frame,
/// would keep the thread running without a pause, at real-time priority: no other thread would get
/// the processor, not even the sound server's. Such a device is asked by the clock.
struct LoopWait: ~Copyable {
  /// A device that stands still must not keep reports from going out.
  private static var longest: Int64 { 50_000_000 }
  /// A device that is asked by the clock is asked twice in a period, and not later than after this.
  private static var longestRest: Int64 { 2_000_000 }
  /// So many wake-ups in a row may bring nothing: a server's signal may come before its frames.
  private static var wakeUpsAllowed: Int { 8 }

  private var descriptors = FixedArray<pollfd>(repeating: pollfd(), count: 24)
  private var count = 1
  private var withCapture: Int64 = 0
  private var withoutCapture: Int64 = 0
  private var whileResting = longestRest
  private var idleWakeUps = 0

  /// Whether the device's descriptors are not waited for until it moves frames again.
  var isResting: Bool { idleWakeUps >= Self.wakeUpsAllowed }

  init(_ signals: LoopSignals) {
    descriptors[0] = pollfd(fd: signals.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
  }

  /// Waits for this device from now on, or for the side of it that is left.
  ///
  /// The microphone wakes the loop, and a wait of just a period would race it; without a microphone
  /// the loudspeaker still wants its frames in time.
  mutating func follow(_ device: inout some AudioDevice & ~Copyable) {
    count = 1 + device.pollDescriptors(&descriptors, from: 1)
    let period = device.playbackRate.nanoseconds(of: device.playbackPeriod)
    withoutCapture = min(Self.longest, max(1_000_000, period))
    withCapture = min(Self.longest, max(1_000_000, period * 5 / 4))
    whileResting = min(Self.longestRest, max(1_000_000, period / 2))
    idleWakeUps = 0
  }

  /// Notes that the device had or took frames.
  @_noAllocation @_noLocks
  mutating func noteMoved() { idleWakeUps = 0 }

  /// Sleeps until something is there, at most `limit` nanoseconds; true if the engine signalled.
  mutating func sleep(
    hasCapture: Bool,
    limit: Int64?,
    _ device: inout some AudioDevice & ~Copyable
  ) -> Bool {
    let longest = isResting ? whileResting : hasCapture ? withCapture : withoutCapture
    let wait = max(0, min(longest, limit ?? longest))
    if isResting {
      poll(1, for: wait)
      // No event may be passed on that is not there: a plugin would wait for it.
      poll(count, for: 0)
    } else if poll(count, for: wait), descriptors[0].revents == 0 {
      idleWakeUps += 1
    }
    device.acknowledge(&descriptors, from: 1)
    return descriptors[0].revents != 0
  }

  /// True if one of the first `count` descriptors is ready.
  @discardableResult
  private mutating func poll(_ count: Int, for nanoseconds: Int64) -> Bool {
    unsafe realtime_poll(
      descriptors.address,
      UInt32(truncatingIfNeeded: count),
      nanoseconds
    ) > 0
  }
}
