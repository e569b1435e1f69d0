import Dispatch
import Synchronization

/// Limits the time that a thread waits for work that may never return, such as a request to a
/// hanging sound server.
package enum TimeLimit {
  /// Runs `work` and waits for it, for a limited time.
  ///
  /// The work runs on a thread of its own. After a timeout it continues there, and its outcome is
  /// passed to `late` on that thread. If the system cannot create a thread, it runs on the
  /// caller's, without a limit.
  ///
  /// - Parameters:
  ///   - milliseconds: time to wait.
  ///   - name: name of the thread, of which Linux keeps 15 characters.
  ///   - policy: scheduling of the thread.
  ///   - late: receives the outcome that came after the timeout.
  ///   - work: the work, which may never return.
  /// - Returns: the outcome; nil after a timeout.
  package static func run<Outcome: ~Copyable & Sendable>(
    milliseconds: Int,
    named name: String,
    policy: RealTimeThread.Policy = .ordinary,
    late: @escaping @Sendable (consuming Outcome) -> Void = { _ in },
    _ work: @escaping @Sendable () -> Outcome
  ) -> Outcome? {
    let delivery = Delivery<Outcome>()
    let body: @Sendable () -> Void = {
      if let outcome = delivery.deliver(work()) { late(outcome) }
    }
    // Without a thread there is no limit.
    if let thread = try? RealTimeThread(name: name, policy: policy, body: body) {
      thread.detach()
    } else {
      body()
    }
    return delivery.wait(milliseconds: milliseconds)
  }
}

/// The outcome of some work, for a thread that waits with a limit.
///
/// **Thread safety:** one thread delivers, once; another waits, once.
private final class Delivery<Outcome: ~Copyable & Sendable>: Sendable {
  private struct State: ~Copyable {
    var outcome: Outcome?
    var isGivenUp = false
  }

  private let state = Mutex(State())
  private let isDelivered = DispatchSemaphore(value: 0)

  /// Stores the outcome for the waiting thread; returns it if that has stopped waiting.
  func deliver(_ outcome: consuming Outcome) -> Outcome? {
    var undelivered: Outcome? = consume outcome
    state.withLock { state in
      if !state.isGivenUp { state.outcome = undelivered.take() }
    }
    isDelivered.signal()
    return undelivered
  }

  func wait(milliseconds: Int) -> Outcome? {
    _ = isDelivered.wait(timeout: .now() + .milliseconds(milliseconds))
    return state.withLock { state in
      state.isGivenUp = true
      return state.outcome.take()
    }
  }
}

/// A value that is passed between threads once.
///
/// A closure cannot consume a captured value; a parcel brings a non-copyable value into one.
package final class Parcel<Value: ~Copyable & Sendable>: Sendable {
  private let value: Mutex<Value?>

  /// Creates a parcel that holds `value`.
  package init(_ value: consuming Value) { self.value = Mutex(consume value) }

  /// Returns the value at the first call, nil later.
  package func take() -> Value? { value.withLock { $0.take() } }
}
