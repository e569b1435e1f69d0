import MediaCore

/// Alarm for one side of a device that has not moved for too long.
package struct StallWatchdog: Sendable {
  /// Time without movement, in nanoseconds, that raises the alarm, unless four periods are longer:
  /// the sound server is gone, or a driver hangs.
  private static let limit: Int64 = 1_000_000_000
  /// Greatest time, in nanoseconds, that one call of `pass` adds, unless 1.25 periods are longer.
  ///
  /// A program that was stopped learns nothing of its devices meanwhile.
  private static let longestTurn: Int64 = 50_000_000

  private let limit: Int64
  private let longestTurn: Int64
  private var still: Int64 = 0
  private var isAlarm = false

  /// Creates a watchdog for a side that moves each period.
  package init(periodNanoseconds: Int64) {
    limit = max(Self.limit, 4 * periodNanoseconds)
    longestTurn = max(Self.longestTurn, periodNanoseconds / 4 * 5)
  }

  /// Notes that the side has moved frames.
  package mutating func noteMoved() { still = 0 }

  /// Advances the time; returns true if the alarm is to be raised, false if it is to be cleared,
  /// nil if nothing changes.
  package mutating func pass(nanoseconds: Int64) -> Bool? {
    let hasMoved = still == 0
    still = min(limit, still + max(0, min(longestTurn, nanoseconds)))
    let wasAlarm = isAlarm
    if hasMoved { isAlarm = false } else if still >= limit { isAlarm = true }
    return isAlarm == wasAlarm ? nil : isAlarm
  }
}
