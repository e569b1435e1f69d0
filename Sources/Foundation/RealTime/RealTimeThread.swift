import CLinux
import Synchronization

/// A thread for work with deadlines: SCHED_FIFO where permitted, memory locked.
///
/// **Life cycle:** it runs `body` once and ends. Call exactly one of `join`, which waits for the
/// end, and `detach`, once. **Thread safety:** the handle belongs to one owner.
@safe
public final class RealTimeThread: Sendable {
  /// Scheduling to request from the system.
  public enum Policy: Sendable {
    /// SCHED_FIFO and locked memory.
    case realTime
    /// The default policy.
    case ordinary
  }

  /// Scheduling that the system granted to the thread.
  public enum Scheduling: Sendable {
    /// The thread has not started yet.
    case pending
    /// SCHED_FIFO, or SCHED_RR if a service granted it.
    case realTime
    /// The default policy.
    case ordinary
  }

  /// Priority under SCHED_FIFO: below interrupt threads (50), above all threads of the default
  /// policy.
  public static let priority: CInt = 20

  private final class Start: Sendable {
    let name: String
    let policy: Policy
    let onDenial: (@Sendable (_ thread: Int32) -> Void)?
    let body: @Sendable () -> Void
    /// Kernel thread ID; 0 until the thread has begun.
    let identifier = Atomic<Int32>(0)

    init(
      name: String,
      policy: Policy,
      onDenial: (@Sendable (_ thread: Int32) -> Void)?,
      body: @escaping @Sendable () -> Void
    ) {
      self.name = name
      self.policy = policy
      self.onDenial = onDenial
      self.body = body
    }

    func run() {
      unsafe name.withCString { unsafe realtime_name_thread($0) }
      let thread = realtime_thread_identifier()
      if policy == .realTime {
        if realtime_request_fifo(RealTimeThread.priority) != 0 { onDenial?(thread) }
        // Refused without the privilege: pages may then be swapped, as for any program.
        _ = realtime_lock_memory()
      }
      identifier.store(thread, ordering: .releasing)
      body()
    }
  }

  private let thread: pthread_t
  private let start: Start

  /// Starts a thread that runs `body`.
  ///
  /// `name` is cut to the 15 characters that Linux keeps. `onDenial` is called on the thread,
  /// before `body`, if the system denies SCHED_FIFO. It receives the kernel thread ID, so that a
  /// service with more rights can grant real-time scheduling.
  public init(
    name: String,
    policy: Policy,
    onDenial: (@Sendable (_ thread: Int32) -> Void)? = nil,
    body: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    let start = Start(
      name: String(name.prefix(15)),
      policy: policy,
      onDenial: onDenial,
      body: body
    )
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

  /// Scheduling that the system has granted by now; `pending` until the thread has begun.
  ///
  /// Not to be used after `join` or `detach`.
  public var scheduling: Scheduling {
    let thread = start.identifier.load(ordering: .acquiring)
    guard thread != 0 else { return .pending }
    return realtime_is_scheduled(thread) != 0 ? .realTime : .ordinary
  }

  /// Limits the time that a real-time thread of this process may run without blocking, in
  /// microseconds.
  ///
  /// A thread that runs longer ends the process. A stricter limit that exists is kept. Returns
  /// false if the system refuses.
  public static func limitRunning(microseconds: Int) -> Bool {
    microseconds > 0 && realtime_limit(UInt(microseconds)) == 0
  }

  /// Waits until `body` has returned.
  public func join() {
    pthread_join(thread, nil)
  }

  /// Lets the thread run and end on its own.
  public func detach() {
    pthread_detach(thread)
  }
}
