package import MediaCore

/// Control of the fill of the playback buffer and of the time to write; latency is the fill when a
/// sample is written.
///
/// The goal is a period and a margin, the frames that are left when a sound card asks for the next
/// period. The margin begins at a period, or 10 ms if that is less; half of it is enough if threads
/// wake in time.
///
/// - An underrun raises it by a period, and a near miss by half a period.
/// - After four quiet seconds it is lowered by half a period, unless that would have been a near
///   miss in them, the margin would be less than twice the longest wake-up delay, or it was raised
///   from that level within the last eight seconds. The eight seconds double each time the lower
///   level fails soon again, up to 128: a rare miss costs little delay, and a machine that always
///   misses is not tried over and over.
/// - Until it is raised for the first time, half a quiet second is enough, so that a call begins as
///   it goes on. For four seconds after such a lowering, a program that wakes too late for the
///   lower margin gets the former one back.
/// - A stall that one more period would not have bridged changes nothing, unless it is the second
///   within eight seconds; nor does a first underrun while the device starts, since many have one.
/// - In the two seconds after its start, a device that takes nothing for 50 ms, or two periods if
///   that is longer, raises the margin for good. One that stalls later is waited for.
///
/// After a near miss the fill grows so slowly that the far side's voice can be resampled to match,
/// since an earlier callback needs its frames earlier. After another near miss, or an underrun, the
/// rest is added at once.
///
/// With a device that takes whole blocks (`PeriodSynchrony`) the margin is the time from the write
/// until they are taken: as many blocks as begin within it are queued, and written when it begins.
/// A margin of a period is one block, written at once; half of one is one block, written in
/// mid-cycle.
///
/// A server that was stopped takes the block that it missed, and the next one at once. Nothing is
/// written while it is stopped. If the second block is missing twice within eight seconds, the
/// margin is raised to cover two. It is not lowered again until four seconds have passed in which
/// two were never taken at once.
package struct PlaybackLevel: Sendable {
  private static var quietNanoseconds: Int64 { 4_000_000_000 }
  private static var firstQuietNanoseconds: Int64 { 500_000_000 }
  private static var leastPatience: Int64 { 8_000_000_000 }
  private static var mostPatience: Int64 { 128_000_000_000 }
  /// Multiple of the patience within which another near miss or underrun doubles the patience.
  private static var soon: Int64 { 4 }
  /// Time, in nanoseconds or periods, whichever is longer, after which a device that takes nothing
  /// wants more.
  private static var stuckNanoseconds: Int64 { 50_000_000 }
  private static var stuckPeriods: FrameCount { 2 }

  private static var startNanoseconds: Int64 { 2_000_000_000 }
  /// Number of frames taken by the device per frame by which the queue grows after a near miss.
  private static var riseShare: FrameCount { 4_000 }

  /// Goal of the fill right after a write: a period and the margin, in frames.
  ///
  /// For a device that takes whole blocks, it includes the rest of the block that is being played.
  package private(set) var goal: FrameCount
  /// Number of underruns.
  package private(set) var underruns = 0

  private let rate: SampleRate
  private let period: FrameCount
  private let leastMargin: FrameCount
  private let floor: FrameCount
  private let ceiling: FrameCount
  private var quietSince: MonotonicInstant?
  /// Least number of frames left since `quietSince`.
  private var leastLeft = FrameCount.max
  /// Least number of frames queued since `quietSince`.
  private var leastQueued = FrameCount.max
  private var raised: (from: FrameCount, at: MonotonicInstant)?
  private var patience: Int64
  /// Former goal, which a near miss raised, and the frames that the device has taken since; nil
  /// once the new goal is reached.
  private var rise: (from: FrameCount, taken: FrameCount)?
  /// True if the goal was lowered after it was raised.
  private var isTrial = false
  /// End of the time in which a goal that was lowered early is given up if the program wakes late.
  private var probationEnd: MonotonicInstant?
  private var lastStandstill: (at: MonotonicInstant, isForgiven: Bool)?
  private var lastTaken: MonotonicInstant?
  /// Time of the last request for frames; `pause` is the time, less a period, by which the device
  /// ran between the last two requests, in nanoseconds.
  private var served: MonotonicInstant?
  private var pause: Int64 = 0
  /// Longest `pause` since `quietSince`, in nanoseconds.
  private var worstPause: Int64 = 0
  private var started: MonotonicInstant?
  private var floorAfterStart: FrameCount = 0
  private var blocks: PeriodSynchrony

  /// Creates the fill control of a device with the given period and buffer, in frames at `rate`.
  ///
  /// The fill is at least one and a half periods, or one period and 5 ms if that is less. It is at
  /// most sixteen periods or 100 ms, whichever is less, though four periods are allowed. It always
  /// leaves room for a period in the buffer.
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

  /// Returns the time to write, after a new period woke the program at `instant` and left `queued`
  /// frames; a time that has passed means at once.
  ///
  /// It is for a device whose microphone and loudspeaker share a clock; with any other, write at
  /// once.
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

  /// Time from the beginning of a cycle to the write, in nanoseconds.
  package private(set) var plannedPostponement: Int64 = 0

  @_noAllocation @_noLocks
  private func margin(of goal: FrameCount) -> FrameCount { max(leastMargin, goal - period) }

  /// Returns the margin of `goal` rounded up to whole periods, at least one, in frames.
  @_noAllocation @_noLocks
  private func wholeBlocks(for goal: FrameCount) -> FrameCount {
    max(1, (margin(of: goal) + period - 1) / period) * period
  }

  /// True unless the device is known to take frames continuously, without cycles.
  package var followsCycles: Bool { @_noAllocation @_noLocks get { blocks.isPossible } }

  /// True while the server makes up for a cycle that it missed.
  ///
  /// A write that is still due then does not mean that the program is late.
  package var isCatchingUp: Bool { @_noAllocation @_noLocks get { blocks.isCatchingUp } }

  /// Returns the time, in mid-cycle, to check whether the device has taken frames since it woke the
  /// program at `instant`; nil if its kind is known.
  @_noAllocation @_noLocks
  package func timeToLook(at instant: MonotonicInstant) -> MonotonicInstant? {
    guard blocks.isUndecided else { return nil }
    return instant.advanced(byNanoseconds: rate.nanoseconds(of: period / 4 * 3))
  }

  /// Notes the number of frames queued at the time that `timeToLook` returned.
  @_noAllocation @_noLocks
  package mutating func look(queued: FrameCount) { blocks.look(queued: queued) }

  /// Returns the nanoseconds from the moment the device took its last block to `instant`, when
  /// `queued` frames are left.
  ///
  /// Nil for a device that takes frames continuously, before its kind is known, and if no cycle was
  /// noted for the last block or for four periods.
  @_noAllocation @_noLocks
  package func age(at instant: MonotonicInstant, queued: FrameCount) -> Int64? {
    blocks.age(at: instant, queued: queued)
  }

  // More than the block, so that a queue that was taken from is not empty: an empty one stands
  // still.
  private var rest: FrameCount {
    @_noAllocation @_noLocks get { max(1, min(leastMargin, period / 8)) }
  }

  /// Returns the fill to reach by a write at `now`, in frames.
  @_noAllocation @_noLocks
  private func aim(at now: MonotonicInstant) -> FrameCount {
    // More for a server that stands still would only be asked of the network too soon. One that was
    // just started may want it.
    if !isStarting(at: now), blocks.isWaitedFor(at: now) { return blocks.written ?? 0 }
    if let _ = blocks.age(at: now) { return min(goal, wholeBlocks(for: goal) + rest) }
    return level
  }

  /// Fill right after a write, in frames: the goal, or less while the queue still grows.
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

  /// Returns the number of frames to write now that `queued` are left.
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
      now.nanoseconds(since: taken)
        > max(Self.stuckNanoseconds, rate.nanoseconds(of: Self.stuckPeriods * period))
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

  /// Notes that `queued` frames are queued after the write.
  @_noAllocation @_noLocks
  package mutating func noteWriting(queued: FrameCount) { blocks.noteWriting(queued) }

  /// Returns the number of frames that sound before the device would run dry.
  @_noAllocation @_noLocks
  private func left(of queued: FrameCount, at now: MonotonicInstant) -> FrameCount {
    // One that stands still is waited for.
    guard let age = blocks.age(at: now), !blocks.isUntouched(queued: queued) else { return queued }
    return queued - rest + period - rate.frames(inNanoseconds: age)
  }

  /// Notes an underrun: the buffer ran dry.
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

  /// Returns the duration, in nanoseconds, of a stall of the machine, the program or a device with
  /// cycles before `now`.
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

  /// Number of frames left at a write below which it was a near miss.
  private var nearMiss: FrameCount { @_noAllocation @_noLocks get { leastMargin / 2 } }

  /// Goal after lowering it once, in frames.
  private var lowered: FrameCount {
    @_noAllocation @_noLocks get { max(max(floor, floorAfterStart), goal - period / 2) }
  }

  /// True if the margin of `goal` is at least twice the longest wake-up delay.
  @_noAllocation @_noLocks
  private func wakesInTime(for goal: FrameCount, at now: MonotonicInstant) -> Bool {
    let lateness = blocks.age(at: now) != nil ? blocks.worstLateness : worstPause
    return 2 * rate.frames(inNanoseconds: lateness) <= goal - period
  }

  /// True if the program wakes in time for the lowered goal, which would not have caused a near
  /// miss.
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
