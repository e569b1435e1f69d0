import Foundation

/// Waiting for events that no descriptor signals: the only place of the rigs and tests that pauses.
package enum Patience {
  /// Time limit in seconds that a machine does not reach if it is merely busy.
  package static let limit = 120.0

  /// Waits until `isTrue` holds, which is polled; false if that does not happen in time.
  package static func waits(
    seconds: Double = limit,
    until isTrue: () throws -> Bool
  ) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    while try !isTrue() {
      guard Date() < end else { return false }
      usleep(20_000)
    }
    return true
  }
}
