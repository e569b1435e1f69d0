/// Interval between searches for a missing device: short at first, then longer if hot-plug events
/// are received.
struct RetryBackoff: Equatable, Sendable {
  /// Number of searches at the short interval: long enough for a sound server to start again.
  private static let hastyLooks = 150
  private static let hastyMilliseconds = 100
  private static let patientMilliseconds = 1_000

  private let isTold: Bool
  private var looks = 0

  /// Starts at the short interval; `isTold` is true if hot-plug events are received.
  init(isTold: Bool) {
    self.isTold = isTold
  }

  /// Time until the next search, in milliseconds.
  var milliseconds: Int {
    isTold && looks >= Self.hastyLooks ? Self.patientMilliseconds : Self.hastyMilliseconds
  }

  /// Returns to the short interval, since a device may have changed.
  mutating func hurry() { looks = 0 }

  /// Counts a search.
  mutating func noteLook() { looks += 1 }
}
