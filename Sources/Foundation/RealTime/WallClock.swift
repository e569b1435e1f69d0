import CLinux

/// The time that people have.
package enum WallClock {
  /// Whether something keeps it right, as time servers do (adjtimex(2)).
  package static var isSynchronized: Bool { system_clock_is_synchronized() }
}
