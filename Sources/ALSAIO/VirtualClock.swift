import CRealTime
import MediaTime
import RealTime

/// The clock of a device that does not exist: a timer that counts whole periods of frames.
struct VirtualClock: ~Copyable {
  /// The period of all virtual devices: 2.5 ms, the shortest Opus frame.
  static var periodNanoseconds: Int64 { 2_500_000 }

  let descriptor: CInt
  private var origin: MonotonicInstant?

  init(device: String) throws(AudioDeviceError) {
    descriptor = realtime_timer_open(Self.periodNanoseconds)
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
    let periods = max(0, now.nanoseconds(since: origin)) / Self.periodNanoseconds
    return rate.frames(inNanoseconds: periods * Self.periodNanoseconds)
  }
}
