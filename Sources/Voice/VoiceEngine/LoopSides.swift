import CLinux
import DeviceTiming
import MediaCore
import RealTime

/// State of the microphone's side of the loop.
struct LoopMicrophone: ~Copyable {
  var chain: CaptureChain
  /// Clock of the microphone, which is updated only while stages are timed.
  var clock: DeviceClock
  var stillness: StallWatchdog
  /// Time of the last read that returned frames; at first, the beginning of the loop.
  var lastRead: MonotonicInstant
  /// Turns of the loop since `lastRead`, up to 2.
  var emptyTurns = 0

  init(
    _ device: borrowing some AudioDevice & ~Copyable,
    _ settings: EngineSettings,
    at now: MonotonicInstant
  ) throws {
    chain = try CaptureChain(rate: device.captureRate, filters: settings.filters)
    let period = device.captureRate.nanoseconds(of: device.capturePeriod)
    clock = DeviceClock(period: SampleRate.voice.frames(inNanoseconds: period), rate: .voice)
    stillness = StallWatchdog(device)
    lastRead = now
  }
}

/// State of the loudspeaker's side of the loop.
struct LoopLoudspeaker: ~Copyable {
  var chain: PlaybackChain
  var level: PlaybackLevel
  var clock: DeviceClock
  var stillness: StallWatchdog
  /// Frames written since the device began, at its rate.
  var writtenFrames: Int64 = 0
  /// True if its next request is for more than a period, since its server stalled.
  var isCatchingUp = false
  /// Smoothed time in nanoseconds from the writing of a frame until it is played; nil before the
  /// first one.
  private(set) var leadNanoseconds: Int64?

  init(_ device: borrowing some AudioDevice & ~Copyable) throws {
    chain = try PlaybackChain(rate: device.playbackRate)
    level = PlaybackLevel(device)
    clock = DeviceClock(period: device.playbackPeriod, rate: device.playbackRate)
    stillness = StallWatchdog(device)
  }

  /// Notes that the frame written now is played that many nanoseconds later.
  @_noAllocation @_noLocks
  mutating func noteLead(_ lead: Int64) {
    leadNanoseconds = lead + ((leadNanoseconds ?? lead) - lead) / 16 * 15
  }
}

/// Wait of the loop for a signal of its engine, the device, or a time limit.
///
/// A device that signals again and again that it is ready, but neither has nor takes a frame, would
/// keep the thread running without a pause, at real-time priority: no other thread would get the
/// processor, not even the sound server's. Such a device is polled at fixed intervals instead.
struct LoopWait: ~Copyable {
  /// Longest wait in nanoseconds, so that a stalled device does not keep reports from going out.
  ///
  /// It exceeds the longest period, 4,096 frames at 8 kHz: a turn in mid-period would end the
  /// measured wait of packets for playback too early.
  private static var longest: Int64 { 640_000_000 }
  /// Longest wait for a device that is polled at intervals, in nanoseconds.
  ///
  /// It is polled twice in a period, or after this time if half a period is longer.
  private static var longestRest: Int64 { 2_000_000 }
  /// Number of wake-ups in a row that may bring no frames: a server's signal may precede them.
  private static var wakeUpsAllowed: Int { 8 }

  private var descriptors = FixedArray<pollfd>(repeating: pollfd(), count: 24)
  private var count = 1
  /// Waits in nanoseconds for a device with a microphone, and for one without.
  private(set) var withCapture: Int64 = 0
  private(set) var withoutCapture: Int64 = 0
  private var whileResting = longestRest
  private var idleWakeUps = 0

  /// True if the device's descriptors are ignored until it moves frames again.
  var isResting: Bool { idleWakeUps >= Self.wakeUpsAllowed }

  init(_ signals: LoopSignals) {
    descriptors[0] = pollfd(fd: signals.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
  }

  /// Makes later waits include this device, or the side of it that is left.
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

  /// Notes that frames were read from or written to the device.
  @_noAllocation @_noLocks
  mutating func noteMoved() { idleWakeUps = 0 }

  /// Sleeps until a descriptor is ready, at most `limit` nanoseconds; returns true if the engine
  /// signalled.
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

  /// Polls the first `count` descriptors, and returns true if one is ready.
  @discardableResult
  private mutating func poll(_ count: Int, for nanoseconds: Int64) -> Bool {
    unsafe realtime_poll(
      descriptors.address,
      UInt32(truncatingIfNeeded: count),
      nanoseconds
    ) > 0
  }
}

extension StallWatchdog {
  /// Creates a watchdog for a side of that device; the loop wakes for the side with the longer
  /// periods.
  init(_ device: borrowing some AudioDevice & ~Copyable) {
    self.init(
      periodNanoseconds: max(
        device.captureRate.nanoseconds(of: device.capturePeriod),
        device.playbackRate.nanoseconds(of: device.playbackPeriod)
      )
    )
  }
}
