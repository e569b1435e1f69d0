import CRealTime
import Synchronization

/// A thread for work with deadlines: SCHED_FIFO where permitted, memory locked.
///
/// **Life cycle:** it runs `body` once and ends; `join` waits for that and must be called exactly
/// once. **Thread safety:** the handle belongs to one owner.
@safe
public final class RealTimeThread: Sendable {
  /// What is asked of the system.
  public enum Policy: Sendable {
    /// SCHED_FIFO and locked memory.
    case realTime
    /// The default policy.
    case ordinary
  }

  /// What the system granted the thread.
  public enum Scheduling: Int, Sendable {
    /// The thread has not started yet.
    case pending
    /// SCHED_FIFO.
    case realTime
    /// The default policy.
    case ordinary
  }

  /// Below interrupt threads (50), above everything else.
  public static let priority: CInt = 20

  private final class Start: Sendable {
    let name: String
    let policy: Policy
    let body: @Sendable () -> Void
    let scheduling = Atomic<Int>(Scheduling.pending.rawValue)

    init(name: String, policy: Policy, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.policy = policy
      self.body = body
    }

    func run() {
      unsafe name.withCString { unsafe realtime_name_thread($0) }
      var granted = Scheduling.ordinary
      if policy == .realTime {
        // Denied without the privilege: pages may then be swapped, as for any program.
        _ = realtime_lock_memory()
        if realtime_request_fifo(RealTimeThread.priority) == 0 { granted = .realTime }
      }
      scheduling.store(granted.rawValue, ordering: .releasing)
      body()
    }
  }

  private let thread: pthread_t
  private let start: Start

  /// Starts a thread that runs `body`.
  ///
  /// `name` is cut to the 15 characters that Linux keeps.
  public init(
    name: String,
    policy: Policy,
    body: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    let start = Start(name: String(name.prefix(15)), policy: policy, body: body)
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(start)
    let code = unsafe pthread_create(
      &thread,
      nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run()
        return nil
      },
      context.toOpaque()
    )
    guard code == 0 else {
      unsafe context.release()
      throw SystemError(operation: "pthread_create", code: code)
    }
    self.thread = thread
    self.start = start
  }

  /// What the system granted; `pending` until the thread has begun.
  public var scheduling: Scheduling {
    Scheduling(rawValue: start.scheduling.load(ordering: .acquiring)) ?? .pending
  }

  /// Waits until `body` has returned.
  public func join() {
    pthread_join(thread, nil)
  }
}
