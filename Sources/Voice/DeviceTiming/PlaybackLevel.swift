package import MediaCore

/// How full to keep the playback buffer, and when to write: latency is the fill when a sample is
/// written.
///
/// The goal is a period and a margin, which is left when a sound card asks for the next. The margin
/// begins at a period, or 10 ms if that is less; half of it is enough where threads wake in time.
/// It is raised by a period when the buffer ran dry, by half of one when it nearly did, and lowered
/// by half a period after four quiet seconds, unless that would have been a near miss in them, or
/// the margin less than twice as long as it took to wake the program, or it was raised from there
/// lately: within eight seconds, and twice as long each time that happens soon again, up to two
/// minutes. So a rare miss costs little delay, and a machine that always misses is not tried over
/// and over. For the first time it is lowered after half a second, so that a call begins as it goes
/// on; then, for four seconds, a program that wakes too late for that margin gets back what it had.
/// A standstill that a period more would not have bridged teaches nothing, unless it is
/// the second within eight seconds. It is also raised, and then kept, when the device takes nothing
/// for 50 ms in the two seconds after its start; one that stands still later is waited for. Many
/// devices run dry once while they start, which teaches nothing.
///
/// What is queued after a near miss grows so slowly that the far side's voice can be resampled for
/// it: a callback that comes sooner needs its frames sooner. After another near miss, or an
/// underrun, the rest is there at once.
///
/// With a device that takes whole blocks (`PeriodSynchrony`) the margin is the time from the
/// writing to the taking: as many blocks as begin within it are queued, and written when it begins.
/// A margin of a period is one block, written at once; half of one is one block, written in
/// mid-cycle.
///
/// A server that was stopped takes the block that it missed, and the next one at once. Nothing is
/// written while it stands still. If the second block is missing twice within eight seconds, the
/// margin is raised to cover two. It is not lowered again until four seconds have passed in which
/// two were never taken at once.
package struct PlaybackLevel: Sendable {
  private static var quietNanoseconds: Int64 { 4_000_000_000 }
  private static var firstQuietNanoseconds: Int64 { 500_000_000 }
  private static var leastPatience: Int64 { 8_000_000_000 }
  private static var mostPatience: Int64 { 128_000_000_000 }
  /// Another near miss within this multiple of the patience doubles the patience.
  private static var soon: Int64 { 4 }
  private static var stuckNanoseconds: Int64 { 50_000_000 }

  private static var startNanoseconds: Int64 { 2_000_000_000 }
  /// While the queue grows after a near miss, it does by one frame in so many that the device
  /// takes.
  private static var riseShare: FrameCount { 4_000 }

  /// A period and the margin, in frames: what is to be queued right after writing, or for a device
  /// that takes whole blocks, what sounds until it has taken them.
  package private(set) var goal: FrameCount
  /// How often the buffer ran dry.
  package private(set) var underruns = 0

  private let rate: SampleRate
  private let period: FrameCount
  private let leastMargin: FrameCount
  private let floor: FrameCount
  private let ceiling: FrameCount
  private var quietSince: MonotonicInstant?
  /// The least that was left since then.
  private var leastLeft = FrameCount.max
  /// The least that was queued since then.
  private var leastQueued = FrameCount.max
  private var raised: (from: FrameCount, at: MonotonicInstant)?
  private var patience: Int64
  /// What was queued when a near miss raised the goal, and what the device has taken since, until
  /// the goal is reached.
  private var rise: (from: FrameCount, taken: FrameCount)?
  /// Whether the goal was lowered after it was raised.
  private var isTrial = false
  /// Until when the goal that was lowered early is given up if the program wakes late.
  private var probationEnd: MonotonicInstant?
  private var lastStandstill: (at: MonotonicInstant, isForgiven: Bool)?
  private var lastTaken: MonotonicInstant?
  /// When frames were asked for the last time, and by how much more than a period the device had
  /// run since the time before.
  private var served: MonotonicInstant?
  private var pause: Int64 = 0
  /// The longest such pause since it is quiet.
  private var worstPause: Int64 = 0
  private var started: MonotonicInstant?
  private var floorAfterStart: FrameCount = 0
  private var blocks: PeriodSynchrony

  /// Fill control of a device with the given period and buffer: from one and a half periods (or one
  /// and 5 ms) up to sixteen, but not over 100 ms and always a period less than the buffer.
  package init(period: FrameCount, capacity: FrameCount, rate: SampleRate) {
    self.rate = rate
    let period = max(1, period)
    self.period = period
    let room = max(period, capacity - period)
    patience = Self.leastPatience
    leastMargin = min(period / 2, rate.hertz / 200)
    floor = min(period + leastMargin, room)
    ceiling = min(room, max(4 * period, min(16 * period, rate.hertz / 10)))
    goal = min(period + 2 * leastMargin, room)
    blocks = PeriodSynchrony(period: period, rate: rate)
  }

  /// When to write, now that a new period of the device has woken the program at `instant` and
  /// `queued` frames are left; a time that has passed means at once.
  ///
  /// Only for a device whose microphone and loudspeaker keep the same time; otherwise, at once is
  /// right.
  @_noAllocation @_noLocks
  package mutating func timeToWrite(
    queued: FrameCount,
    at instant: MonotonicInstant
  ) -> MonotonicInstant {
    // The first writing begins the loudspeaker's clock: with a cycle, as those after it.
    guard let _ = started else { return instant }
    let start = blocks.begin(queued: queued, at: instant)
    // A cycle without information changes no plan.
    guard let _ = blocks.age(at: instant) else { return instant }
    plannedPostponement = rate.nanoseconds(of: wholeBlocks(for: goal) - margin(of: goal))
    return start.advanced(byNanoseconds: plannedPostponement)
  }

  /// How long after the beginning of a cycle the device is written to, in nanoseconds.
  package private(set) var plannedPostponement: Int64 = 0

  @_noAllocation @_noLocks
  private func margin(of goal: FrameCount) -> FrameCount { max(leastMargin, goal - period) }

  /// The frames of blocks that begin within the margin.
  @_noAllocation @_noLocks
  private func wholeBlocks(for goal: FrameCount) -> FrameCount {
    max(1, (margin(of: goal) + period - 1) / period) * period
  }

  /// Whether the beginnings of cycles say anything of this device, as far as is known.
  package var followsCycles: Bool { @_noAllocation @_noLocks get { blocks.isPossible } }

  /// Whether the server is making up for a cycle that it missed.
  ///
  /// A write that is still to be done then does not mean that the program is late.
  package var isCatchingUp: Bool { @_noAllocation @_noLocks get { blocks.isCatchingUp } }

  /// When to look how the device takes what was written since it woke the program at `instant`; nil
  /// if that is known.
  @_noAllocation @_noLocks
  package func timeToLook(at instant: MonotonicInstant) -> MonotonicInstant? {
    guard blocks.isUndecided else { return nil }
    return instant.advanced(byNanoseconds: rate.nanoseconds(of: period / 4 * 3))
  }

  /// Takes in how many frames are queued then.
  @_noAllocation @_noLocks
  package mutating func look(queued: FrameCount) { blocks.look(queued: queued) }

  /// Nanoseconds at `instant`, when `queued` frames are left, since the device took its last block.
  ///
  /// Nil for one that takes frames all the time, and where it is not known: before it is clear what
  /// the device does, and if no cycle was noted for the last block or for four periods.
  @_noAllocation @_noLocks
  package func age(at instant: MonotonicInstant, queued: FrameCount) -> Int64? {
    blocks.age(at: instant, queued: queued)
  }

  // More than the block, so that a queue that was taken from is not empty: an empty one stands
  // still.
  private var rest: FrameCount {
    @_noAllocation @_noLocks get { max(1, min(leastMargin, period / 8)) }
  }

  /// Frames to have queued right after writing to this kind of device.
  @_noAllocation @_noLocks
  private func aim(at now: MonotonicInstant) -> FrameCount {
    // More for a server that stands still would only be asked of the network too soon. One that was
    // just started may want it.
    if !isStarting(at: now), blocks.isWaitedFor(at: now) { return blocks.written ?? 0 }
    if let _ = blocks.age(at: now) { return min(goal, wholeBlocks(for: goal) + rest) }
    return level
  }

  /// What is queued right after writing: the goal, or less while the queue still grows.
  package var level: FrameCount {
    @_noAllocation @_noLocks get {
      rise.map { min(goal, $0.from + $0.taken / Self.riseShare) } ?? goal
    }
  }

  @_noAllocation @_noLocks
  private mutating func grow(queued: FrameCount, at now: MonotonicInstant) {
    guard let (from, taken) = rise else { return }
    rise = (from, taken + max(0, (blocks.written ?? queued) - queued))
    guard level == goal || blocks.age(at: now) != nil else { return }
    rise = nil
    raised?.at = now
  }

  /// How many frames to write now that `queued` are left.
  @_noAllocation @_noLocks
  package mutating func framesToWrite(queued: FrameCount, at now: MonotonicInstant) -> FrameCount {
    blocks.note(queued: queued, at: now)
    notePause(queued: queued, at: now)
    grow(queued: queued, at: now)
    guard let since = quietSince else {
      quietSince = now
      started = now
      lastTaken = now
      return max(0, aim(at: now) - queued)
    }
    if queued < aim(at: now) {
      lastTaken = now
    } else if isStarting(at: now), let taken = lastTaken,
      now.nanoseconds(since: taken) > Self.stuckNanoseconds
    {
      // Some sound servers take nothing until more is queued than a card would want.
      lastTaken = now
      goal = min(ceiling, goal + period)
      rise = nil
      floorAfterStart = goal
    }
    let left = left(of: queued, at: now)
    leastLeft = min(leastLeft, left)
    leastQueued = min(leastQueued, queued)
    if left < nearMiss {
      if !isForgiven(standstill(at: now), at: now) { raiseGently(at: now) }
    } else if let end = probationEnd, now < end, !wakesInTime(for: goal, at: now) {
      raiseGently(at: now)
    } else if now.nanoseconds(since: since) > quietNanoseconds, goal > floor {
      if isPunctual(at: now) { lower(at: now) }
      beginQuiet(at: now)
    }
    return max(0, aim(at: now) - queued)
  }

  /// Notes that `queued` frames are there now that the program has written.
  @_noAllocation @_noLocks
  package mutating func noteWriting(queued: FrameCount) { blocks.noteWriting(queued) }

  /// Frames that sound before the device would run dry.
  @_noAllocation @_noLocks
  private func left(of queued: FrameCount, at now: MonotonicInstant) -> FrameCount {
    // One that stands still is waited for.
    guard let age = blocks.age(at: now), !blocks.isUntouched(queued: queued) else { return queued }
    return queued - rest + period - rate.frames(inNanoseconds: age)
  }

  /// Notes that the buffer ran dry.
  @_noAllocation @_noLocks
  package mutating func noteUnderrun(at now: MonotonicInstant) {
    underruns += 1
    let pause = standstill(at: now)
    blocks.noteRestart()
    // That the buffer was found empty before is the same event.
    if let noted = raised, noted.at.nanoseconds == now.nanoseconds {
      goal = noted.from
    }
    let isFirst = underruns == 1 && isStarting(at: now)
    if isFirst { raised = nil }
    // The device is begun anew.
    started = now
    rise = nil
    if !isFirst, !isForgiven(pause, at: now) { raise(by: period, at: now) }
  }

  @_noAllocation @_noLocks
  private mutating func notePause(queued: FrameCount, at now: MonotonicInstant) {
    if let served {
      var passed = now.nanoseconds(since: served)
      // While the device stood still, the program was not late. One that takes whole blocks does
      // not tell when it took them.
      if queued > 0, !blocks.isPossible, let written = blocks.written {
        passed = min(passed, rate.nanoseconds(of: written - queued))
      }
      pause = passed - rate.nanoseconds(of: period)
    }
    worstPause = max(worstPause, pause)
    served = now
  }

  /// For how long the machine or the program stood still before `now`, or a device of which cycles
  /// tell it, in nanoseconds.
  @_noAllocation @_noLocks
  private func standstill(at now: MonotonicInstant) -> Int64 {
    blocks.standstill(at: now) ?? pause
  }

  @_noAllocation @_noLocks
  private mutating func isForgiven(_ pause: Int64, at now: MonotonicInstant) -> Bool {
    guard pause > rate.nanoseconds(of: margin(of: goal) + period) else { return false }
    let since = lastStandstill.map { now.nanoseconds(since: $0.at) } ?? Self.leastPatience
    // What is noted twice at the same moment is one event.
    let isForgiven = since == 0 ? lastStandstill?.isForgiven ?? true : since >= Self.leastPatience
    lastStandstill = (now, isForgiven)
    if isForgiven { forgetLateness() }
    return isForgiven
  }

  @_noAllocation @_noLocks
  private func isStarting(at now: MonotonicInstant) -> Bool {
    guard let started else { return true }
    return now.nanoseconds(since: started) < Self.startNanoseconds
  }

  // A near miss is no reason to take half a period from what packets have to wait, all at once;
  // another one soon is.
  @_noAllocation @_noLocks
  private mutating func raiseGently(at now: MonotonicInstant) {
    if let begin = rise?.from, level - begin < goal - level {
      rise = nil
      raised?.at = now
      return beginQuiet(at: now)
    }
    let reached = goal
    raise(by: period / 2, at: now)
    let isAtOnce = isStarting(at: now) || blocks.age(at: now) != nil
    rise = isAtOnce ? nil : (reached, 0)
  }

  @_noAllocation @_noLocks
  private mutating func raise(by frames: FrameCount, at now: MonotonicInstant) {
    if isTrial, let raised {
      let isSoon = now.nanoseconds(since: raised.at) < Self.soon * patience
      patience =
        isSoon ? min(Self.mostPatience, 2 * patience) : max(Self.leastPatience, patience / 2)
    }
    isTrial = false
    probationEnd = nil
    raised = (goal, now)
    goal = min(ceiling, goal + frames)
    beginQuiet(at: now)
  }

  @_noAllocation @_noLocks
  private mutating func beginQuiet(at now: MonotonicInstant) {
    quietSince = now
    leastLeft = .max
    leastQueued = .max
    forgetLateness()
  }

  @_noAllocation @_noLocks
  private mutating func forgetLateness() {
    worstPause = 0
    blocks.worstLateness = 0
  }

  private var quietNanoseconds: Int64 {
    @_noAllocation @_noLocks get {
      if case .none = raised { Self.firstQuietNanoseconds } else { Self.quietNanoseconds }
    }
  }

  /// Less than this left when we come to write is one.
  private var nearMiss: FrameCount { @_noAllocation @_noLocks get { leastMargin / 2 } }

  /// What the goal is lowered to.
  private var lowered: FrameCount {
    @_noAllocation @_noLocks get { max(max(floor, floorAfterStart), goal - period / 2) }
  }

  /// Whether the margin of `goal` is twice what it took to wake us.
  @_noAllocation @_noLocks
  private func wakesInTime(for goal: FrameCount, at now: MonotonicInstant) -> Bool {
    let lateness = blocks.age(at: now) != nil ? blocks.worstLateness : worstPause
    return 2 * rate.frames(inNanoseconds: lateness) <= goal - period
  }

  /// Whether we wake in time for what is left after lowering, and it would have been no near miss.
  @_noAllocation @_noLocks
  private func isPunctual(at now: MonotonicInstant) -> Bool {
    guard wakesInTime(for: lowered, at: now) else { return false }
    guard let _ = blocks.age(at: now) else { return leastLeft - (goal - lowered) >= nearMiss }
    // In a block that is taken whole nothing less is left by lowering, but there may be fewer.
    return leastQueued >= wholeBlocks(for: goal) - wholeBlocks(for: lowered)
  }

  @_noAllocation @_noLocks
  private mutating func lower(at now: MonotonicInstant) {
    guard rise == nil else { return }
    if let raised, lowered <= raised.from,
      now.nanoseconds(since: raised.at) < patience
    {
      return
    }
    if case .none = raised {
      probationEnd = now.advanced(byNanoseconds: Self.quietNanoseconds)
    }
    goal = lowered
    isTrial = true
  }
}
