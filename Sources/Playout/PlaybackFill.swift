public import MediaTime

/// How full to keep the playback buffer: latency is the fill when a sample is written.
///
/// The goal begins at two periods, of which one is left when a sound card asks for the next; half of one is enough
/// where threads wake in time. It is raised by a period when the buffer ran dry, by half of one when it nearly did, and
/// lowered by half a period after ten quiet seconds, unless it was raised from there within the last minute. It is also
/// raised, and then kept, when the device takes nothing for 50 ms in the two seconds after its start; one that stands
/// still later is waited for. Many devices run dry once while they start, which teaches nothing.
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

  /// Fill control of a device with the given period and buffer: from one and a half periods up to sixteen, but
  /// not over 100 ms and always a period less than the buffer.
  public init(period: FrameCount, capacity: FrameCount, rate: SampleRate) {
    self.period = period
    let room = max(period, capacity - period)
    floor = min(period + period / 2, room)
    ceiling = min(room, max(4 * period, min(16 * period, rate.hertz / 10)))
    goal = min(2 * period, room)
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
      raise(by: period / 2, at: now)
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
    // That the buffer was found empty before is the same event.
    if let noted = raised, noted.at.nanoseconds == now.nanoseconds {
      (goal, raised) = (noted.from, nil)
    }
    let isFirst = underruns == 1 && isStarting(at: now)
    // The device is begun anew.
    started = now
    if !isFirst { raise(by: period, at: now) }
  }

  @_noAllocation @_noLocks
  private func isStarting(at now: MonotonicInstant) -> Bool {
    guard let started else { return true }
    return now.nanoseconds(since: started) < Self.startNanoseconds
  }

  @_noAllocation @_noLocks
  private mutating func raise(by frames: FrameCount, at now: MonotonicInstant) {
    raised = (goal, now)
    goal = min(ceiling, goal + frames)
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
