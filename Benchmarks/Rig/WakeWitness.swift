import Foundation
import MediaCore
import RealTime
import Synchronization

/// A thread with the voice thread's priority that wakes as often as it does and notes how late:
/// what the machine does to everyone, whatever program is measured.
package final class WakeWitness {
  private final class Notes: Sendable {
    let isStopping = Atomic(false)
    let delays = Mutex<[Double]>([])
  }

  private let notes = Notes()
  private let thread: RealTimeThread

  private static let periodNanoseconds: Int64 = 2_500_000
  static var periodSeconds: Double { Double(periodNanoseconds) / 1e9 }

  /// A shorter delay is harmless, in milliseconds.
  private static let harmless = 0.5

  /// Starts to watch.
  package init() throws {
    let notes = notes
    thread = try RealTimeThread(name: "witness", policy: .realTime) {
      var due = MonotonicClock.now()
      while !notes.isStopping.load(ordering: .relaxed) {
        due = due.advanced(byNanoseconds: Self.periodNanoseconds)
        let wait = due.nanoseconds(since: MonotonicClock.now())
        if wait > 0 { usleep(UInt32(wait / 1_000)) }
        let late = Double(MonotonicClock.now().nanoseconds(since: due)) / 1e6
        guard late > Self.harmless else { continue }
        notes.delays.withLock { $0.append(late) }
        // What was slept through is one delay.
        due = MonotonicClock.now()
      }
    }
  }

  /// Ends the thread, and tells by how many milliseconds it woke too late, each time.
  package func stop() -> [Double] {
    notes.isStopping.store(true, ordering: .relaxed)
    thread.join()
    return notes.delays.withLock { $0 }
  }
}
