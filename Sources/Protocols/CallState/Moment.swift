public import MediaCore

/// The time at which something happens, on both clocks: one for deadlines, one for people.
public struct Moment: Equatable, Sendable {
  /// On the clock that deadlines count by.
  public let instant: MonotonicInstant
  /// On the calendar.
  public let date: CallDate

  /// The same time on both clocks.
  public init(instant: MonotonicInstant, date: CallDate) {
    self.instant = instant
    self.date = date
  }
}

/// A point on the calendar.
public struct CallDate: Hashable, Comparable, Sendable {
  /// Seconds since the first of January 1970, 0 h UTC.
  public let secondsSince1970: Double

  /// The point so many seconds after the first of January 1970, 0 h UTC.
  public init(secondsSince1970: Double) {
    self.secondsSince1970 = secondsSince1970
  }

  /// Earlier.
  public static func < (left: CallDate, right: CallDate) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }
}
