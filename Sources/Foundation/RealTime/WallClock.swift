import CLinux

/// Wall-clock time; NTP may step it.
package enum WallClock {
  /// True if a time service keeps the clock synchronized (adjtimex(2)); nil if the system does not
  /// report it.
  package static var isSynchronized: Bool? {
    let answer = system_clock_is_synchronized()
    return answer < 0 ? nil : answer > 0
  }
}
