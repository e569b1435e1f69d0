import Foundation
import Testing

/// Threads for tests that wait for programs: a test keeps its thread until it is over.
///
/// Swift's own threads are as many as the machine has cores, and two tests at a time would leave
/// the cores idle: programs that call each other mostly wait as well. More than a few at a time
/// would keep each other's voice from being on time.
// SAFETY: the jobs are guarded by `condition`.
final class TestThreads: TaskExecutor, @unchecked Sendable {
  static let shared = TestThreads(count: 6)

  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []

  private init(count: Int) {
    for _ in 0..<count { Thread.detachNewThread { self.work() } }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock {
      jobs.append(job)
      condition.signal()
    }
  }

  private func work() {
    let executor = unsafe asUnownedTaskExecutor()
    while true {
      let job = condition.withLock {
        while jobs.isEmpty { condition.wait() }
        return jobs.removeFirst()
      }
      unsafe job.runSynchronously(on: executor)
    }
  }
}

/// Runs a suite's tests on `TestThreads`.
struct WaitingTrait: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(TestThreads.shared) { try await function() }
  }
}

extension Trait where Self == WaitingTrait {
  /// Trait of suites whose tests wait for programs.
  static var waiting: Self { WaitingTrait() }
}
