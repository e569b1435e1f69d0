package import MediaCore

/// A sound device's own time: it runs while samples come or go and stands still while they do.
///
/// A packet is in time or late by the loudspeaker's clock alone, so arrivals are measured by it.
/// The monotonic clock runs on while a sound server stalls, or a machine gives it no time; if
/// packets were measured by that one, each stall would pass for jitter of the network.
///
/// A device reports its position in steps of a period or more. Between two of them this clock runs
/// with the monotonic one, by a step at most; where a step's time is known, from that time on.
package struct DeviceClock: Sendable {
  private static var longestStep: Int64 { 100_000_000 }
  /// After so long without a coarse step a device counts as fine again.
  private static var memory: Int64 { 1_000_000_000 }

  /// The device's time at the last update; its origin is the monotonic clock's at the first one.
  package private(set) var now = MonotonicInstant(nanoseconds: 0)

  private var rate: SampleRate
  private var period: Int64
  private var before = MonotonicInstant(nanoseconds: 0)
  private var updated: MonotonicInstant?
  private var origin: Int64 = 0
  private var position: Int64 = 0
  private var isRestarted = false
  /// By how much the device may have been further than it said when it began, at which time of both
  /// clocks.
  private var slack: (nanoseconds: Int64, began: MonotonicInstant, instant: MonotonicInstant)?

  /// The device's position moves by so much at once; what follows learns it.
  private var step: Int64
  private var moved = MonotonicInstant(nanoseconds: 0)
  private var looks = 0
  private var coarse: Int64 = 0
  private var coarseCount = 0
  private var lastCoarse = MonotonicInstant(nanoseconds: 0)

  /// A clock of a device with that period, in frames at `rate`.
  package init(period: FrameCount, rate: SampleRate) {
    self.rate = rate
    step = rate.nanoseconds(of: period)
    self.period = step
  }

  /// Notes that the device was started anew after a fault: what its position will be says nothing
  /// of the time that has passed.
  @_noAllocation @_noLocks
  package mutating func noteRestart() { isRestarted = true }

  /// Goes on with another device, whose positions begin anew.
  @_noAllocation @_noLocks
  package mutating func changeDevice(period: FrameCount, rate: SampleRate) {
    self.rate = rate
    self.period = rate.nanoseconds(of: period)
    step = self.period
    coarseCount = 0
    isRestarted = true
  }

  /// Takes in the device's position at `instant`: `frames` sampled or sounded since it began, at
  /// its own rate, and for how long it has been there, in nanoseconds, if that is known.
  ///
  /// The `age` counts up to a period: then the next position is due. A loudspeaker `isDry` if it
  /// has nothing to play.
  @_noAllocation @_noLocks
  package mutating func update(
    frames: Int64,
    age: Int64? = nil,
    isDry: Bool,
    at instant: MonotonicInstant
  ) {
    let position = rate.nanoseconds(of: Int(frames)) + min(age ?? 0, period)
    guard let updated else {
      origin = instant.nanoseconds - position
      (now, before, moved, self.updated) = (instant, instant, instant, instant)
      self.position = position
      slack = (step, instant, instant)
      return
    }
    before = now
    let free = now.advanced(byNanoseconds: max(0, instant.nanoseconds(since: updated)))
    if isRestarted {
      isRestarted = false
      origin = free.nanoseconds - position
      slack = (step, free, instant)
    } else {
      learnStep(to: position, at: instant)
    }
    self.updated = instant
    self.position = position
    settle(at: instant)
    // What has run dry sounds silence, and time passes with it; what is gone has not sounded all
    // that it was given.
    guard !isDry else {
      let end = free.nanoseconds - position
      origin = min(end, max(origin, end - step))
      return now = free
    }
    // Where its age is known, nothing is left to the monotonic clock.
    let limit = age == nil ? reached.advanced(byNanoseconds: step) : reached
    now = max(before, max(reached, min(free, limit)))
  }

  // The first report may have been a step old. Were the clock set by it, it would jump once
  // what the device says is newer, and all packets of the first seconds would seem to come late.
  @_noAllocation @_noLocks
  private mutating func settle(at instant: MonotonicInstant) {
    guard let (most, began, then) = slack else { return }
    let passed = instant.nanoseconds(since: then)
    guard passed < Self.memory else { return slack = nil }
    let ahead = reached.nanoseconds(since: began.advanced(byNanoseconds: passed))
    let newer = max(0, min(most, ahead))
    origin -= newer
    slack?.nanoseconds -= newer
  }

  private var reached: MonotonicInstant {
    @_noAllocation @_noLocks get { MonotonicInstant(nanoseconds: origin + position) }
  }

  /// The device's time at a monotonic `instant` between the last update and the one before it.
  @_noAllocation @_noLocks
  package func time(of instant: MonotonicInstant) -> MonotonicInstant {
    guard let updated else { return instant }
    let age = max(0, updated.nanoseconds(since: instant))
    return max(before, now.advanced(byNanoseconds: -age))
  }

  /// How long what came at the monotonic `instant`, after the update before the last, has waited
  /// until now, in nanoseconds: a step of the device at most, since what is longer was the program
  /// standing still.
  @_noAllocation @_noLocks
  package func wait(since instant: MonotonicInstant) -> Int64 {
    max(0, min(step, now.nanoseconds(since: time(of: instant))))
  }

  // A position that did not move while we looked, and then by more than a step in about as much
  // time: the device is coarser than its period. One that moved far because we were not looking is
  // not.
  @_noAllocation @_noLocks
  private mutating func learnStep(to position: Int64, at instant: MonotonicInstant) {
    guard position != self.position else {
      looks += 1
      return
    }
    let distance = position - self.position
    let taken = instant.nanoseconds(since: moved)
    // Once is a stall that was caught up with; three times alike is a habit.
    if distance > period, looks >= 2, taken < distance / 2 * 3 {
      coarseCount = abs(distance - coarse) < distance / 4 ? coarseCount + 1 : 1
      coarse = distance
      if coarseCount >= 3 { step = min(distance, Self.longestStep) }
      lastCoarse = instant
    } else if instant.nanoseconds(since: lastCoarse) > Self.memory {
      step = period
      coarseCount = 0
    }
    moved = instant
    looks = 0
  }

  /// How long before `now` the device had reached `frames`, in nanoseconds.
  @_noAllocation @_noLocks
  package func age(ofFrame frame: Int64) -> Int64 {
    now.nanoseconds - origin - rate.nanoseconds(of: Int(frame))
  }
}
