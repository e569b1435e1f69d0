import CLibre
import MediaCore
import RealTime

/// One timer of the event loop.
///
/// A sleeping task would not do for long times: if it is cancelled, its timer in the system stays
/// until its time has come.
///
/// **Thread safety:** the event loop's thread only. **Life cycle:** it fires once for each `start`;
/// `cancel` before it is released.
@safe
final class LoopTimer {
  private let timer: UnsafeMutablePointer<tmr>?
  private var handler: () -> Void = {}

  /// Creates a timer that is not running.
  init() {
    unsafe timer = re_timer_alloc()
  }

  deinit {
    _ = unsafe mem_deref(UnsafeMutableRawPointer(timer))
  }

  /// Calls `handler` at `deadline`, or at once if that has passed, instead of an earlier handler
  /// that has not been called yet.
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

  /// Stops the timer and drops its handler.
  func cancel() {
    unsafe tmr_cancel(timer)
    handler = {}
  }
}
