import CLibre
import MediaCore
import RealTime

/// One timer of the event loop.
///
/// A sleeping task is no replacement for a long one: it leaves the system's timer behind when it is
/// cancelled, until its time would have come.
///
/// **Thread safety:** the event loop's thread only. **Life cycle:** it fires once for each `start`;
/// `cancel` before it is released.
@safe
final class LoopTimer {
  private let timer: UnsafeMutablePointer<tmr>?
  private var handler: () -> Void = {}

  /// A timer that does not run.
  init() {
    unsafe timer = re_timer_alloc()
  }

  deinit {
    _ = unsafe mem_deref(UnsafeMutableRawPointer(timer))
  }

  /// Calls `handler` at `deadline`, at once if that has passed, in place of what was to come.
  func start(for deadline: MonotonicInstant, _ handler: @escaping () -> Void) {
    self.handler = handler
    let pause = max(0, deadline.nanoseconds(since: MonotonicClock.now()))
    unsafe tmr_start(
      timer,
      UInt64(pause / 1_000_000 + 1),
      { context in
        guard let context = unsafe context else { return }
        let timer = unsafe Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue()
        timer.handler()
      },
      Unmanaged.passUnretained(self).toOpaque()
    )
  }

  /// Does not let it fire.
  func cancel() {
    unsafe tmr_cancel(timer)
    handler = {}
  }
}
