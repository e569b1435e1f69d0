import CLinux
import MediaCore
import RealTime

/// The clock of a virtual device: a timer that counts whole periods of frames.
struct VirtualClock: ~Copyable {
  let descriptor: CInt
  /// Period of a virtual device, in nanoseconds, from 0.5 ms to 1 s.
  let periodNanoseconds: Int64
  private var origin: MonotonicInstant?

  init(device: String, periodNanoseconds: Int64) throws(AudioDeviceError) {
    // From half a millisecond, so that a period of 0 does not make a timer that never stops.
    self.periodNanoseconds = max(500_000, min(1_000_000_000, periodNanoseconds))
    descriptor = realtime_timer_open(self.periodNanoseconds)
    guard descriptor >= 0 else {
      throw AudioDeviceError(
        kind: .other,
        device: device,
        operation: "timerfd_create",
        reason: SystemError(operation: "no timer", code: -descriptor).description
      )
    }
  }

  deinit {
    close(descriptor)
  }

  @_noAllocation @_noLocks
  mutating func start(at now: MonotonicInstant) {
    origin = now
    // The timer counts whole periods since then, not since it was made.
    _ = realtime_timer_restart(descriptor, periodNanoseconds)
  }

  mutating func pollDescriptor(_ descriptors: inout FixedArray<pollfd>, at index: Int) -> Int {
    guard index < descriptors.count else { return 0 }
    descriptors[index] = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return 1
  }

  @_noAllocation @_noLocks
  mutating func acknowledge() {
    _ = realtime_event_take(descriptor)
  }

  /// Frames that have passed by `now`, in whole periods, at `rate`; 0 before the start.
  @_noAllocation @_noLocks
  func frames(at now: MonotonicInstant, rate: SampleRate) -> Int {
    guard let origin else { return 0 }
    let periods = max(0, now.nanoseconds(since: origin)) / periodNanoseconds
    return rate.frames(inNanoseconds: periods * periodNanoseconds)
  }
}
