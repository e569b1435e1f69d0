import Dispatch
import Synchronization

/// Limits how long a thread waits for work that may never return, such as a question to a sound
/// server that hangs.
package enum TimeLimit {
  /// Runs `work` and waits for it.
  ///
  /// The work runs on a thread of its own. After a timeout it goes on there, and its outcome is
  /// passed to `late` on that thread. Where the system has no thread left, it runs on the caller's.
  ///
  /// - Parameters:
  ///   - milliseconds: how long to wait.
  ///   - name: the thread's name, of which Linux keeps 15 characters.
  ///   - policy: the thread's scheduling.
  ///   - late: takes the outcome of work that was given up.
  ///   - work: what may never return.
  /// - Returns: the outcome, or nil if there is none in time.
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

  /// Gives the outcome back if it is not waited for any more.
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

/// A value that one thread leaves and another takes, once.
///
/// A closure cannot consume what it has captured: this is how a non-copyable value gets into one.
package final class Parcel<Value: ~Copyable & Sendable>: Sendable {
  private let value: Mutex<Value?>

  /// Leaves `value`.
  package init(_ value: consuming Value) { self.value = Mutex(consume value) }

  /// The value, at the first call.
  package func take() -> Value? { value.withLock { $0.take() } }
}
