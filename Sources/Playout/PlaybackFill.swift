public import MediaTime

/// How full to keep the playback buffer: latency is the fill when a sample is written.
///
/// The goal is raised by a period when the buffer ran dry or nearly so, and lowered by half a period
/// after ten quiet seconds, unless it was raised from there within the last minute. It is also raised,
/// and then kept, when the device takes nothing for 50 ms in the two seconds after its start; one that stands still
/// later is waited for.
public struct PlaybackFill: Sendable {
  private static var quietNanoseconds: Int64 { 10_000_000_000 }
  private static var relapseNanoseconds: Int64 { 60_000_000_000 }
  private static var stuckNanoseconds: Int64 { 50_000_000 }

  private static var startNanoseconds: Int64 { 2_000_000_000 }

  /// Frames to have queued right after writing.
  public private(set) var goal: FrameCount
  /// How often the buffer ran dry.
  public private(set) var underruns = 0

  private let period: FrameCount
  private let floor: FrameCount
  private let ceiling: FrameCount
  private var quietSince: MonotonicInstant?
  private var raised: (from: FrameCount, at: MonotonicInstant)?
  private var lastTaken: MonotonicInstant?
  private var started: MonotonicInstant?
  private var floorAfterStart: FrameCount = 0

  /// Fill control of a device with the given period and buffer: from two periods up to sixteen, but
  /// not over 100 ms and always a period less than the buffer.
  public init(period: FrameCount, capacity: FrameCount, rate: SampleRate) {
    self.period = period
    let room = max(period, capacity - period)
    floor = min(2 * period, room)
    ceiling = min(room, max(4 * period, min(16 * period, rate.hertz / 10)))
    goal = floor
  }

  /// How many frames to write now that `queued` are left.
  @_noAllocation @_noLocks
  public mutating func framesToWrite(queued: FrameCount, at now: MonotonicInstant) -> FrameCount {
    guard let since = quietSince else {
      quietSince = now
      started = now
      lastTaken = now
      return max(0, goal - queued)
    }
    if queued < goal {
      lastTaken = now
    } else if isStarting(at: now), let taken = lastTaken,
      now.nanoseconds(since: taken) > Self.stuckNanoseconds
    {
      // Some sound servers take nothing until more is queued than a card would want.
      lastTaken = now
      goal = min(ceiling, goal + period)
      floorAfterStart = goal
    }
    // A quarter period left when we come to write is a near miss.
    if queued < period / 4 {
      raise(at: now)
    } else if now.nanoseconds(since: since) > Self.quietNanoseconds, goal > floor {
      quietSince = now
      lower(at: now)
    }
    return max(0, goal - queued)
  }

  /// Notes that the buffer ran dry.
  @_noAllocation @_noLocks
  public mutating func noteUnderrun(at now: MonotonicInstant) {
    underruns += 1
    // The device is begun anew.
    started = now
    raise(at: now)
  }

  @_noAllocation @_noLocks
  private func isStarting(at now: MonotonicInstant) -> Bool {
    guard let started else { return true }
    return now.nanoseconds(since: started) < Self.startNanoseconds
  }

  @_noAllocation @_noLocks
  private mutating func raise(at now: MonotonicInstant) {
    raised = (goal, now)
    goal = min(ceiling, goal + period)
    quietSince = now
  }

  @_noAllocation @_noLocks
  private mutating func lower(at now: MonotonicInstant) {
    let lowered = max(max(floor, floorAfterStart), goal - period / 2)
    if let raised, lowered <= raised.from,
      now.nanoseconds(since: raised.at) < Self.relapseNanoseconds
    {
      return
    }
    goal = lowered
  }
}
