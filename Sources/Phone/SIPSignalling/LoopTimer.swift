import CLibre
package import MediaCore
import RealTime

/// One timer of the event loop.
///
/// `Task.sleep` does not suit long times: after a cancellation its timer stays in the runtime until
/// the deadline.
///
/// **Thread safety:** the event loop's thread only. **Life cycle:** it fires once for each `start`;
/// `cancel` before it is released.
@safe
package final class LoopTimer {
  private let timer: UnsafeMutablePointer<tmr>?
  private var handler: () -> Void = {}

  /// Creates a timer that is not running.
  package init() {
    unsafe timer = re_timer_alloc()
  }

  deinit {
    _ = unsafe mem_deref(UnsafeMutableRawPointer(timer))
  }

  /// Schedules `handler` for `deadline`, or for the next millisecond if that has passed; replaces a
  /// handler that is still pending.
  package func start(for deadline: MonotonicInstant, _ handler: @escaping () -> Void) {
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
  package func cancel() {
    unsafe tmr_cancel(timer)
    handler = {}
  }
}
