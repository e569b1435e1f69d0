package import MediaCore

/// Clock of a sound device, which runs while its samples move and stops while they do not.
///
/// A packet is in time or late by the loudspeaker's clock alone, so arrivals are measured by it.
/// While a sound server stalls, or the machine gives it no processor time, the monotonic clock runs
/// on: measured by that, each stall would look like network jitter.
///
/// A device reports its position in steps of up to a period, some devices in longer ones. Between
/// two steps this clock runs with the monotonic one, by a step at most; if the age of the position
/// is known, it shows the position plus that age.
package struct DeviceClock: Sendable {
  private static var longestStep: Int64 { 100_000_000 }
  /// Time without a coarse step, in nanoseconds, after which `step` is a period again.
  private static var memory: Int64 { 1_000_000_000 }

  /// Device time at the last update; it equals the monotonic time at the first one.
  package private(set) var now = MonotonicInstant(nanoseconds: 0)

  private var rate: SampleRate
  private var period: Int64
  private var before = MonotonicInstant(nanoseconds: 0)
  private var updated: MonotonicInstant?
  private var origin: Int64 = 0
  private var position: Int64 = 0
  private var isRestarted = false
  /// Greatest age of the first reported position, and the device time and monotonic time at which
  /// it was reported; nil once settled.
  private var slack: (nanoseconds: Int64, began: MonotonicInstant, instant: MonotonicInstant)?

  /// Granularity of the reported position, in nanoseconds, learned with the properties below.
  private var step: Int64
  private var moved = MonotonicInstant(nanoseconds: 0)
  private var looks = 0
  private var coarse: Int64 = 0
  private var coarseCount = 0
  private var lastCoarse = MonotonicInstant(nanoseconds: 0)

  /// Creates a clock for a device with a period in frames at `rate`.
  package init(period: FrameCount, rate: SampleRate) {
    self.rate = rate
    step = rate.nanoseconds(of: period)
    self.period = step
  }

  /// Notes that the device was restarted after a fault: its next position says nothing of the time
  /// that has passed.
  @_noAllocation @_noLocks
  package mutating func noteRestart() { isRestarted = true }

  /// Continues with another device, whose positions start from the beginning.
  @_noAllocation @_noLocks
  package mutating func changeDevice(period: FrameCount, rate: SampleRate) {
    self.rate = rate
    self.period = rate.nanoseconds(of: period)
    step = self.period
    coarseCount = 0
    isRestarted = true
  }

  /// Updates the clock with the device's position at `instant`: the `frames` captured or played
  /// since it started, at its own rate.
  ///
  /// The `age` is the time since it reached that position, in nanoseconds, nil if unknown; it
  /// counts up to a period, when the next position is due. A loudspeaker `isDry` if it has nothing
  /// to play.
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

  /// Returns the device's time at a monotonic `instant` between the last update and the one before
  /// it.
  @_noAllocation @_noLocks
  package func time(of instant: MonotonicInstant) -> MonotonicInstant {
    guard let updated else { return instant }
    let age = max(0, updated.nanoseconds(since: instant))
    return max(before, now.advanced(byNanoseconds: -age))
  }

  /// Returns the time from the monotonic `instant` to `now`, in nanoseconds of this clock.
  ///
  /// `instant` is after the update before the last. The result is at most a step of the device,
  /// since any longer wait is a stall of the program.
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

  /// Returns the time from when the device reached `frame` to `now`, in nanoseconds.
  @_noAllocation @_noLocks
  package func age(ofFrame frame: Int64) -> Int64 {
    now.nanoseconds - origin - rate.nanoseconds(of: Int(frame))
  }
}
