package import RealTime
import Synchronization

/// Real-time thread that runs a loop until `stop`.
///
/// **Thread safety:** any thread but the loop's own.
package final class LoopThread: Sendable {
  private let signals: LoopSignals
  private let thread: Mutex<RealTimeThread?>

  /// Starts a thread named `name` that runs `loop`, which ends when `signals` demand it.
  ///
  /// `onDenial` is called as by `RealTimeThread`. Throws the system's error.
  package init(
    _ signals: LoopSignals,
    name: String,
    onDenial: (@Sendable (_ thread: Int32) -> Void)? = nil,
    loop: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    self.signals = signals
    thread = Mutex(
      try RealTimeThread(name: name, policy: .realTime, onDenial: onDenial, body: loop)
    )
  }

  /// False after `stop`.
  var isRunning: Bool { thread.withLock { $0 != nil } }

  /// Scheduling that the system has granted the thread; `pending` until it has begun and after
  /// `stop`.
  var scheduling: RealTimeThread.Scheduling {
    thread.withLock { $0?.scheduling ?? .pending }
  }

  /// Longest wait for the end in milliseconds: a loop may block in a device whose sound server
  /// hangs.
  private static let endMilliseconds = 2_000

  /// Ends the loop and waits for that, for two seconds at most.
  ///
  /// Calls `release` once the loop has ended, however late that is: until then it may use objects
  /// lent to it. Later calls do nothing.
  package func stop(release: @escaping @Sendable () -> Void) {
    // The only reference: with it the loop goes, and its device is closed before the wait ends.
    guard let running = thread.withLock({ $0.take() }).map({ Parcel($0) }) else { return }
    signals.isStopping.store(true, ordering: .releasing)
    signals.wakeUp.signal()
    _ = TimeLimit.run(milliseconds: Self.endMilliseconds, named: "loop-end") {
      running.take()?.join()
      release()
    }
  }
}
