/// How often a device that is missing is looked for: often at first, then less, since somebody
/// tells when one is plugged in.
struct RetryBackoff: Equatable, Sendable {
  /// Long enough for a sound server to start again.
  private static let hastyLooks = 150
  private static let hastyMilliseconds = 100
  private static let patientMilliseconds = 1_000

  private let isTold: Bool
  private var looks = 0

  /// From now on; `isTold` says whether somebody tells when a card is plugged in.
  init(isTold: Bool) {
    self.isTold = isTold
  }

  /// Until the next look.
  var milliseconds: Int {
    isTold && looks >= Self.hastyLooks ? Self.patientMilliseconds : Self.hastyMilliseconds
  }

  /// Notes that something has happened.
  mutating func hurry() { looks = 0 }

  /// Notes an attempt that failed.
  mutating func noteLook() { looks += 1 }
}
