import MediaCore

/// For how long one side of a device has not moved, and whether that is an alarm.
package struct StallWatchdog: Sendable {
  /// After so long a sound server has gone without a word, and a card's driver hangs.
  private static let limit: Int64 = 1_000_000_000
  /// A turn counts for so long at most: a program that was stopped learns nothing of its devices
  /// meanwhile.
  private static let longestTurn: Int64 = 50_000_000

  private let limit: Int64
  private var still: Int64 = 0
  private var isAlarm = false

  /// Of a side that moves each period.
  package init(periodNanoseconds: Int64) {
    limit = max(Self.limit, 4 * periodNanoseconds)
  }

  /// Notes that frames went through it.
  package mutating func noteMoved() { still = 0 }

  /// Lets time pass; true when the alarm is to be raised, false when it is to be taken back, nil
  /// when nothing changes.
  package mutating func pass(nanoseconds: Int64) -> Bool? {
    let hasMoved = still == 0
    still = min(limit, still + max(0, min(Self.longestTurn, nanoseconds)))
    let wasAlarm = isAlarm
    if hasMoved { isAlarm = false } else if still >= limit { isAlarm = true }
    return isAlarm == wasAlarm ? nil : isAlarm
  }
}
