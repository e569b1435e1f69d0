import CLinux

/// The time that people have.
package enum WallClock {
  /// Whether something keeps it right, as time servers do (adjtimex(2)); nil if the system does not
  /// say.
  package static var isSynchronized: Bool? {
    let answer = system_clock_is_synchronized()
    return answer < 0 ? nil : answer > 0
  }
}
