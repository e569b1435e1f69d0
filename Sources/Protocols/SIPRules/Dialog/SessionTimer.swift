package import MediaCore

/// The session timer that an INVITE asks for.
///
/// A value without I/O.
package struct SessionInterval: Equatable, Sendable {
  /// The interval in seconds (RFC 4028 section 4).
  package private(set) var seconds = SessionTimer.usual
  private var shortest = SessionTimer.shortest
  private var retries = 0
  /// Maximum number of retries: a server and the far side may each have a minimum of their own.
  private static let mostRetries = 2

  /// Creates the interval that this side asks for at first.
  package init() {}

  /// The headers of an INVITE about timers.
  package var headers: String { "Session-Expires: \(seconds)\r\nMin-SE: \(shortest)\r\n" }

  /// Adopts the minimum interval that a refusal names (RFC 4028 section 7.3); false if another
  /// INVITE would not help.
  package mutating func retries(after status: Int, shortest header: String) -> Bool {
    let named = header.split(separator: ";").first.flatMap {
      Int($0.filter { !$0.isWhitespace })
    }
    guard status == 422, retries < Self.mostRetries, let named, named > shortest,
      named <= SessionTimer.longest
    else { return false }
    retries += 1
    shortest = named
    seconds = max(seconds, named)
    return true
  }
}

/// The session timer of a call (RFC 4028), by which each side knows that the other one is still
/// there.
package struct SessionTimer: Equatable, Sendable {
  /// The side that refreshes the session.
  package enum Refresher: String, Equatable, Sendable {
    /// The side that sent the request.
    case caller = "uac"
    /// The side that answered it.
    case callee = "uas"
  }

  /// An action that the timer demands.
  package enum Step: Equatable, Sendable {
    /// Send a refresh.
    case refresh
    /// End the call: the far side has not refreshed it.
    case end
  }

  /// The shortest interval that is accepted, in seconds.
  package static let shortest = 90
  /// The interval that this side asks for, in seconds (RFC 4028 section 4).
  package static let usual = 1_800
  /// The longest interval in seconds; longer ones are reduced to it, since they would end a dead
  /// call too late.
  static let longest = 86_400
  /// The pause before a failed refresh is repeated, in seconds.
  private static let repetition: Int64 = 10

  /// The interval in seconds.
  package let seconds: Int
  /// True if this side refreshes the session.
  package let isRefresher: Bool
  /// True if the far side supports timers, and so ends the call itself if it is not refreshed.
  package let isShared: Bool
  private var startedAt: MonotonicInstant
  private var repeatsAt: MonotonicInstant?

  package init(seconds: Int, isRefresher: Bool, isShared: Bool = true, at now: MonotonicInstant) {
    self.seconds = min(Self.longest, max(Self.shortest, seconds))
    self.isRefresher = isRefresher
    self.isShared = isShared
    startedAt = now
  }

  /// The timer that a Session-Expires header asks for; nil if it makes no sense.
  ///
  /// - Parameters:
  ///   - header: the header's value.
  ///   - isCaller: true if this side sent the request that has the header, or is answered with it.
  ///   - isShared: false if the far side has not declared that it supports timers. A proxy may ask
  ///     for one in its place; then it is this side that refreshes (RFC 4028 section 9).
  ///   - now: the time at which the header arrived.
  package init?(_ header: String, isCaller: Bool, isShared: Bool = true, at now: MonotonicInstant) {
    let fields = header.lowercased().split(separator: ";").map { $0.filter { !$0.isWhitespace } }
    guard let seconds = fields.first.flatMap({ Int($0) }), seconds > 0 else { return nil }
    let named = fields.first { $0.hasPrefix("refresher=") }?.dropFirst(10)
    // Where it is not said, the caller does it: it has asked for the timer.
    let refresher = named.flatMap { Refresher(rawValue: String($0)) } ?? .caller
    self.init(
      seconds: seconds,
      isRefresher: !isShared || (refresher == .caller) == isCaller,
      isShared: isShared,
      at: now
    )
  }

  /// Restarts the interval: before a call is answered there is nothing to refresh.
  package mutating func restart(at now: MonotonicInstant) {
    startedAt = now
    repeatsAt = nil
  }

  /// Returns the Session-Expires header of an answer, or of a request if this side `isCaller`.
  package func header(isCaller: Bool) -> String {
    let refresher: Refresher = isRefresher == isCaller ? .caller : .callee
    return "Session-Expires: \(seconds);refresher=\(refresher.rawValue)\r\n"
  }

  /// Notes that a refresh got no response.
  ///
  /// RFC 4028 section 10 would end the call at once. But a network that is away for half a minute
  /// may come back before the interval is over, and until then the far side keeps the call as well.
  package mutating func refreshWasLost(at now: MonotonicInstant) {
    repeatsAt = now.advanced(by: .seconds(Self.repetition))
  }

  /// The next action and its time (RFC 4028 section 10).
  package var next: (step: Step, at: MonotonicInstant) {
    let end = startedAt.advanced(by: .seconds(seconds - min(32, seconds / 3)))
    guard isRefresher else { return (.end, end) }
    let refresh = repeatsAt ?? startedAt.advanced(by: .seconds(seconds / 2))
    return refresh < end ? (.refresh, refresh) : (.end, end)
  }
}
