import MediaCore

/// Detector of how a loudspeaker takes queued frames: continuously, or one block at the beginning
/// of each cycle.
///
/// A card's pointer moves all the time. A sound server (JACK, PipeWire) takes a block, and then
/// wakes the program with what the microphone captured; everything written before the next cycle
/// begins sounds at the same moment. So nothing is lost by writing late in the cycle, and packets
/// that have arrived by then are played a cycle sooner.
///
/// A device takes blocks if, in enough cycles, exactly one period is taken from cycle to cycle and
/// nothing in mid-cycle. The beginning of a cycle is inferred from the earliest recent wake-ups, so
/// that a thread that wakes late hardly shifts it.
struct PeriodSynchrony: Sendable {
  private static var enoughLooks: Int { 16 }
  /// Number of cycles after which a device that has not shown itself to take blocks counts as
  /// continuous.
  private static var mostCycles: Int { 256 }
  /// Divisor of a wake-up's lateness that gives the shift of the assumed beginning of cycles.
  private static var followShare: Int64 { 16 }
  /// Number of periods without a cycle up to which the server counts as stalled.
  private static var longestStandstill: Int64 { 64 }

  private let block: FrameCount
  /// Duration of `block`, in nanoseconds.
  private let period: Int64
  private var looks = 0
  private var cycles = 0
  private var isContinuous = false
  private var cycle: MonotonicInstant?
  /// Frames queued after the last write; nil before the first one and after a restart.
  private(set) var written: FrameCount?
  /// True if the newest cycle came a period after the one before and a block was taken.
  private var isRegular = false
  /// Longest time from the beginning of a cycle to the wake-up of the program, in nanoseconds,
  /// since this was set to 0.
  var worstLateness: Int64 = 0
  /// Lateness of the newest cycle, in nanoseconds, if it was more than half a period; otherwise 0.
  private var delay: Int64 = 0
  /// Frames queued if none has been taken since the newest cycle began, or since a write after
  /// that.
  private var expected: FrameCount = 0
  /// Latest time at which the program found that nothing had been taken since its last write.
  private var untouched = MonotonicInstant(nanoseconds: 0)
  /// True if the newest cycle is the first after a stall of the server, or the second if that
  /// followed at once.
  ///
  /// jackd begins the cycle that it missed late, and the one after it at once.
  private(set) var isCatchingUp = false
  private var isAfterStandstill = false

  /// Creates a detector for a device that was just started, with a period in frames at `rate`.
  init(period: FrameCount, rate: SampleRate) {
    block = period
    self.period = max(1, rate.nanoseconds(of: period))
  }

  /// True unless the device is known to take frames continuously.
  var isPossible: Bool { @_noAllocation @_noLocks get { !isContinuous } }

  /// True if a look in mid-cycle would add information.
  var isUndecided: Bool {
    @_noAllocation @_noLocks get { isPossible && looks < Self.enoughLooks }
  }

  /// Notes that a cycle woke the program at `instant` and left `queued` frames; returns the time at
  /// which it began.
  @_noAllocation @_noLocks
  mutating func begin(queued: FrameCount, at instant: MonotonicInstant) -> MonotonicInstant {
    var start = instant
    let standstill = delay
    isRegular = false
    delay = 0
    expected = queued
    if isUndecided, cycles >= Self.mostCycles { isContinuous = true }
    cycles = min(cycles + 1, Self.mostCycles)
    if let cycle {
      let passed = instant.nanoseconds(since: cycle)
      let isFirst = hasStoodStill(since: cycle, until: instant)
      let isSecond = isAfterStandstill && passed <= period / 2
      // Hardly less than several periods is in time.
      let whole = (passed + period / 8) / period * period
      var late = whole > 0 ? max(0, passed - whole) : 0
      // A server that lost a whole cycle counts from here on. One that lost less keeps its time:
      // its next cycle comes early, which is no matter while there is a block for it.
      if isFirst, passed >= period / 8 * 15 || queued >= block { late = 0 }
      start = instant.advanced(byNanoseconds: late / Self.followShare - late)
      // What comes much later is the server's lateness, not the program's.
      if passed > period / 2, passed < period / 2 * 3 {
        if !isFirst { worstLateness = max(worstLateness, passed - period) }
        note(taken: written.map { $0 - queued } ?? 0)
        isAfterStandstill = false
        isCatchingUp = false
      } else {
        isAfterStandstill = isFirst
        isCatchingUp = isFirst || isSecond
        // What comes at once is part of the same event.
        delay = isSecond ? standstill : max(0, passed - period)
      }
    }
    cycle = start
    return start
  }

  // Whether the program looked after a cycle was due, and not long before it came, and nothing had
  // been taken. A program that is late itself does not look.
  @_noAllocation @_noLocks
  private func hasStoodStill(since cycle: MonotonicInstant, until instant: MonotonicInstant)
    -> Bool
  {
    untouched.nanoseconds(since: cycle) > period
      && instant.nanoseconds(since: untouched) < period / 2 * 3
  }

  // Nothing yet: a server may wake the program first.
  @_noAllocation @_noLocks
  private mutating func note(taken: FrameCount) {
    isRegular = taken == block
    guard !isRegular, taken != 0, looks > 0 else { return }
    // A server may change its mind.
    looks = max(0, looks - 4)
    cycles = 0
  }

  /// True if a fill of `queued` frames shows that nothing has been taken since the last write.
  @_noAllocation @_noLocks
  func isUntouched(queued: FrameCount) -> Bool {
    guard let written else { return false }
    return queued >= written
  }

  /// Notes that `queued` frames are queued after a write.
  @_noAllocation @_noLocks
  mutating func noteWriting(_ queued: FrameCount) {
    written = queued
    expected = queued
  }

  /// Notes that `queued` frames are left in mid-cycle, after the write.
  @_noAllocation @_noLocks
  mutating func look(queued: FrameCount) {
    guard let written else { return }
    if queued == written {
      looks += isRegular ? 1 : 0
    } else if written - queued < block {
      looks = 0
      isContinuous = true
    }
    // A whole block: we came too late to see anything.
  }

  /// Notes that `queued` frames were left when the program looked, at `instant`.
  @_noAllocation @_noLocks
  mutating func note(queued: FrameCount, at instant: MonotonicInstant) {
    if looks >= Self.enoughLooks, isUntouched(queued: queued) { untouched = instant }
  }

  /// True if a server that takes blocks has not taken the last one, according to `note` at the same
  /// `instant`.
  @_noAllocation @_noLocks
  func isWaitedFor(at instant: MonotonicInstant) -> Bool {
    // The instants are compared as numbers: without optimization `==` may not be called here.
    guard let cycle, let written, written >= block, instant.nanoseconds(since: untouched) == 0
    else { return false }
    return instant.nanoseconds(since: cycle) < Self.longestStandstill * period
  }

  /// Returns the nanoseconds since the last block was taken; nil unless the device is known to take
  /// blocks and a cycle began in the last four periods.
  @_noAllocation @_noLocks
  func age(at instant: MonotonicInstant) -> Int64? {
    guard looks >= Self.enoughLooks, let cycle else { return nil }
    let age = max(0, instant.nanoseconds(since: cycle))
    return age < 4 * period ? age : nil
  }

  /// Returns the same as `age(at:)`, but nil also if `queued` frames show that another block was
  /// taken without waking the program.
  @_noAllocation @_noLocks
  func age(at instant: MonotonicInstant, queued: FrameCount) -> Int64? {
    queued < expected ? nil : age(at: instant)
  }

  /// Returns the duration, in nanoseconds, of a stall of the server, the machine or the program
  /// before `instant`; nil for a continuous device, and without a cycle in the last 64 periods.
  @_noAllocation @_noLocks
  func standstill(at instant: MonotonicInstant) -> Int64? {
    guard isPossible, let cycle else { return nil }
    let age = instant.nanoseconds(since: cycle)
    if age < period { return delay }
    return age < Self.longestStandstill * period ? age - period : nil
  }

  /// Notes that the device was restarted, with cycles that begin at other times.
  @_noAllocation @_noLocks
  mutating func noteRestart() {
    isContinuous = false
    isCatchingUp = false
    isAfterStandstill = false
    cycles = 0
    cycle = nil
    written = nil
  }
}
