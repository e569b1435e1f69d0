import CLibre
import Glibc
import Synchronization

/// libre's event loop on a thread of its own, as a serial executor.
///
/// libre keeps its loop, timers and sockets in global state, so there is one loop for each process
/// and everything that touches libre runs on it. **Life cycle:** started by the first use, runs
/// until the process ends. **Thread safety:** `enqueue` may be called from any thread.
final class EventLoopThread: SerialExecutor {
  static let shared = EventLoopThread()

  // SAFETY: the queue pointer is set once before jobs run; mqueue_push may be called from any
  // thread.
  @safe
  private struct State: @unchecked Sendable {
    var jobs: [UnownedJob] = []
    var queue: OpaquePointer?
    var thread: pthread_t?
  }

  private let state = Mutex(State())

  private init() {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    _ = unsafe pthread_create(
      &thread,
      nil,
      { context in
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<EventLoopThread>.fromOpaque(context).takeUnretainedValue().run()
        return nil
      },
      context
    )
  }

  private func run() {
    re_silence_debug()
    guardEventLoop()
    _ = libre_init()
    var queue: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe mqueue_alloc(
      &queue,
      { _, _, context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<EventLoopThread>.fromOpaque(context).takeUnretainedValue().runJobs()
      },
      context
    )
    let made = unsafe queue
    state.withLock { state in
      unsafe state.queue = made
      state.thread = pthread_self()
    }
    runJobs()
    _ = re_main(nil)
  }

  private func runJobs() {
    let jobs = state.withLock { state in
      let jobs = state.jobs
      state.jobs.removeAll()
      return jobs
    }
    for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { state in
      state.jobs.append(job)
      // One byte in the pipe wakes the loop for any number of jobs.
      if state.jobs.count == 1, let queue = unsafe state.queue {
        _ = unsafe mqueue_push(queue, 0, nil)
      }
    }
  }

  var isCurrent: Bool {
    state.withLock { state in
      state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }
  }

  func checkIsolated() {
    precondition(isCurrent, "libre is used on its own thread only")
  }

  func isIsolatingCurrentContext() -> Bool? { isCurrent }
}
