/// How often a missing device is looked for: often at first, then less where hot-plug events say
/// when one is plugged in.
struct RetryBackoff: Equatable, Sendable {
  /// Long enough for a sound server to start again.
  private static let hastyLooks = 150
  private static let hastyMilliseconds = 100
  private static let patientMilliseconds = 1_000

  private let isTold: Bool
  private var looks = 0

  /// Begins now; `isTold` is true if hot-plug events are received.
  init(isTold: Bool) {
    self.isTold = isTold
  }

  /// The time until the next attempt.
  var milliseconds: Int {
    isTold && looks >= Self.hastyLooks ? Self.patientMilliseconds : Self.hastyMilliseconds
  }

  /// Notes that something has happened.
  mutating func hurry() { looks = 0 }

  /// Notes an attempt that failed.
  mutating func noteLook() { looks += 1 }
}
