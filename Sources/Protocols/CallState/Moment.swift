package import MediaCore

/// A point in time on two clocks: the monotonic one for deadlines, the calendar for the user.
package struct Moment: Equatable, Sendable {
  /// Instant on the monotonic clock, by which deadlines are counted.
  package let instant: MonotonicInstant
  /// Date on the calendar.
  package let date: CallDate

  /// Creates a moment of the same time on both clocks.
  package init(instant: MonotonicInstant, date: CallDate) {
    self.instant = instant
    self.date = date
  }
}

/// A date, in the calendar's time.
package struct CallDate: Hashable, Comparable, Sendable {
  /// Seconds since the first of January 1970, 0 h UTC.
  package let secondsSince1970: Double

  /// Creates the date so many seconds after the first of January 1970, 0 h UTC.
  package init(secondsSince1970: Double) {
    self.secondsSince1970 = secondsSince1970
  }

  /// True if the first date is the earlier one.
  package static func < (left: CallDate, right: CallDate) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }
}
