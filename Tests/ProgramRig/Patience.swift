import Foundation

/// Waiting for what no descriptor tells: the only place of the rigs and tests that pauses.
package enum Patience {
  /// Seconds that nothing takes on a machine that is merely busy.
  package static let limit = 120.0

  /// Waits until `isTrue`, which is asked again and again; false if that does not come.
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
