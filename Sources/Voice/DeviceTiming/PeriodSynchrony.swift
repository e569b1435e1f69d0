import MediaCore

/// How a loudspeaker takes what is queued: all the time, or a block at once at the beginning of
/// each cycle.
///
/// A card's pointer moves all the time. A sound server (JACK, PipeWire) takes a block, and then
/// wakes the program with what the microphone captured; whatever is written before the next cycle
/// begins sounds at the same moment. So nothing is lost by writing late in the cycle, and what has
/// arrived by then is played a cycle sooner.
///
/// What tells the two apart, seen often enough, is that from cycle to cycle just a period is taken,
/// and nothing of it in mid-cycle. A cycle begins when the earliest of the recent wake-ups said so:
/// a thread that was woken late must not take the next cycle for late, too.
struct PeriodSynchrony: Sendable {
  private static var enoughLooks: Int { 16 }
  /// A device that has not shown itself to take blocks in so many cycles is not looked at any more.
  private static var mostCycles: Int { 256 }
  /// How slowly wake-ups that are late, one like the other, move what a cycle's beginning is taken
  /// for.
  private static var followShare: Int64 { 16 }
  /// After so many periods without a cycle it is no longer taken for a standstill.
  private static var longestStandstill: Int64 { 64 }

  private let block: FrameCount
  /// The same in nanoseconds.
  private let period: Int64
  private var looks = 0
  private var cycles = 0
  private var isContinuous = false
  private var cycle: MonotonicInstant?
  /// What was queued after the last writing.
  private(set) var written: FrameCount?
  /// Whether the newest cycle came a period after the one before and took a block.
  private var isRegular = false
  /// The longest that the program was woken after a cycle had begun, in nanoseconds, since this was
  /// set to 0.
  var worstLateness: Int64 = 0
  /// By how much the newest cycle came too late, in nanoseconds, if that was more than half a
  /// period.
  private var delay: Int64 = 0
  /// What is queued if nothing has been taken since the newest cycle began, or since the program
  /// wrote after that.
  private var expected: FrameCount = 0
  /// When the program last looked and found that nothing had been taken since it had written.
  private var untouched = MonotonicInstant(nanoseconds: 0)
  /// Whether the newest cycle is the first after a standstill of the server, or the second if that
  /// followed at once.
  ///
  /// jackd begins the cycle that it missed late, and the one after it at once.
  private(set) var isCatchingUp = false
  private var isAfterStandstill = false

  /// Of a device that was just started, with that period in frames at its rate.
  init(period: FrameCount, rate: SampleRate) {
    block = period
    self.period = max(1, rate.nanoseconds(of: period))
  }

  /// Whether it may be, or is known, that blocks are taken.
  var isPossible: Bool { @_noAllocation @_noLocks get { !isContinuous } }

  /// Whether a look in mid-cycle would add information.
  var isUndecided: Bool {
    @_noAllocation @_noLocks get { isPossible && looks < Self.enoughLooks }
  }

  /// Notes that a cycle woke the program at `instant` and left `queued` frames; returns when it
  /// began.
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

  /// Whether nothing has been taken since the last writing, after which `queued` frames were there.
  @_noAllocation @_noLocks
  func isUntouched(queued: FrameCount) -> Bool {
    guard let written else { return false }
    return queued >= written
  }

  /// Notes that so many frames are queued now that the program has written.
  @_noAllocation @_noLocks
  mutating func noteWriting(_ queued: FrameCount) {
    written = queued
    expected = queued
  }

  /// Notes that `queued` frames are left in mid-cycle, after the writing.
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

  /// Notes that `queued` frames are left at `instant`, as they are when the program looks.
  @_noAllocation @_noLocks
  mutating func note(queued: FrameCount, at instant: MonotonicInstant) {
    if looks >= Self.enoughLooks, isUntouched(queued: queued) { untouched = instant }
  }

  /// Whether a server that takes blocks has left the one that was written for it, by what `note`
  /// heard at `instant`.
  @_noAllocation @_noLocks
  func isWaitedFor(at instant: MonotonicInstant) -> Bool {
    // The instants are compared as numbers: without optimization `==` may not be called here.
    guard let cycle, let written, written >= block, instant.nanoseconds(since: untouched) == 0
    else { return false }
    return instant.nanoseconds(since: cycle) < Self.longestStandstill * period
  }

  /// Nanoseconds since the last block was taken, nil where none are, or where nothing has told of
  /// cycles of late.
  @_noAllocation @_noLocks
  func age(at instant: MonotonicInstant) -> Int64? {
    guard looks >= Self.enoughLooks, let cycle else { return nil }
    let age = max(0, instant.nanoseconds(since: cycle))
    return age < 4 * period ? age : nil
  }

  /// The same if `queued` frames are left, nil also if another block was taken without waking the
  /// program.
  @_noAllocation @_noLocks
  func age(at instant: MonotonicInstant, queued: FrameCount) -> Int64? {
    queued < expected ? nil : age(at: instant)
  }

  /// For how long the server, the machine or the program stood still before `instant`, in
  /// nanoseconds; nil where cycles tell nothing of it.
  @_noAllocation @_noLocks
  func standstill(at instant: MonotonicInstant) -> Int64? {
    guard isPossible, let cycle else { return nil }
    let age = instant.nanoseconds(since: cycle)
    if age < period { return delay }
    return age < Self.longestStandstill * period ? age - period : nil
  }

  /// Notes that the device was started anew, with cycles that begin at other times.
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
