import MediaCore

/// The session timer of a call (RFC 4028): each side knows that the other one is still there.
///
/// A value without I/O: time is an argument.
struct SessionTimer: Equatable, Sendable {
  /// The side that refreshes the session.
  enum Refresher: String, Equatable, Sendable {
    /// The side that has sent the request.
    case caller = "uac"
    /// The other one.
    case callee = "uas"
  }

  /// What is to be done.
  enum Step: Equatable, Sendable {
    /// Send a refresh.
    case refresh
    /// End the call: the far side has not refreshed it.
    case end
  }

  /// The shortest interval that is accepted, in seconds.
  static let shortest = 90
  /// The interval that this side asks for (RFC 4028 section 4).
  static let usual = 1_800
  /// Nobody needs longer ones.
  private static let longest = 86_400

  /// The interval in seconds.
  let seconds: Int
  /// True if this side refreshes the session.
  let isRefresher: Bool
  private let startedAt: MonotonicInstant

  init(seconds: Int, isRefresher: Bool, at now: MonotonicInstant) {
    self.seconds = min(Self.longest, max(Self.shortest, seconds))
    self.isRefresher = isRefresher
    startedAt = now
  }

  /// The timer that a Session-Expires header asks for; nil if it makes no sense.
  ///
  /// - Parameters:
  ///   - header: the header's value.
  ///   - isCaller: true on the side that sent the request that this is about.
  ///   - now: when it arrived.
  init?(_ header: String, isCaller: Bool, at now: MonotonicInstant) {
    let fields = header.lowercased().split(separator: ";").map { $0.filter { !$0.isWhitespace } }
    guard let seconds = fields.first.flatMap({ Int($0) }), seconds > 0 else { return nil }
    let named = fields.first { $0.hasPrefix("refresher=") }?.dropFirst(10)
    // Where it is not said, the caller does it: it has asked for the timer.
    let refresher = named.flatMap { Refresher(rawValue: String($0)) } ?? .caller
    self.init(seconds: seconds, isRefresher: (refresher == .caller) == isCaller, at: now)
  }

  /// The Session-Expires header of an answer, or of a request in which this side is the caller.
  func header(isCaller: Bool) -> String {
    let refresher: Refresher = isRefresher == isCaller ? .caller : .callee
    return "Session-Expires: \(seconds);refresher=\(refresher.rawValue)\r\n"
  }

  /// What is to be done, and when (RFC 4028 section 10).
  var next: (step: Step, at: MonotonicInstant) {
    let wait = isRefresher ? seconds / 2 : seconds - min(32, seconds / 3)
    return (
      isRefresher ? .refresh : .end, startedAt.advanced(byNanoseconds: Int64(wait) * 1_000_000_000)
    )
  }
}
