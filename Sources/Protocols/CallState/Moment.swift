package import MediaCore

/// The time at which something happens, on both clocks: one for deadlines, one for people.
package struct Moment: Equatable, Sendable {
  /// On the clock that deadlines count by.
  package let instant: MonotonicInstant
  /// On the calendar.
  package let date: CallDate

  /// The same time on both clocks.
  package init(instant: MonotonicInstant, date: CallDate) {
    self.instant = instant
    self.date = date
  }
}

/// A point on the calendar.
package struct CallDate: Hashable, Comparable, Sendable {
  /// Seconds since the first of January 1970, 0 h UTC.
  package let secondsSince1970: Double

  /// The point so many seconds after the first of January 1970, 0 h UTC.
  package init(secondsSince1970: Double) {
    self.secondsSince1970 = secondsSince1970
  }

  /// Earlier.
  package static func < (left: CallDate, right: CallDate) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }
}
