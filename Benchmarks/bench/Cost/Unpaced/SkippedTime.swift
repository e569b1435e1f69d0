import MediaCore
import RealTime

/// The machine's clocks without the time in which nothing is done: what would wait goes on at once,
/// later by so much.
///
/// **Thread safety:** one thread at a time.
final class SkippedTime: TimeSource {
  private let system = SystemTime()
  private var skipped: Int64 = 0
  /// The last instant that was skipped to.
  private(set) var reached = MonotonicInstant(nanoseconds: 0)

  var now: MonotonicInstant { system.now.advanced(byNanoseconds: skipped) }

  var wallNanoseconds: Int64 { system.wallNanoseconds + skipped }

  /// Is at `instant` at once, if that is to come.
  func skip(to instant: MonotonicInstant) {
    skipped += max(0, instant.nanoseconds(since: now))
    reached = instant
  }
}
