import MediaCore

/// The session timer that an INVITE asks for.
///
/// A value without I/O.
struct SessionInterval: Equatable, Sendable {
  /// In seconds (RFC 4028 section 4).
  private(set) var seconds = SessionTimer.usual
  private var shortest = SessionTimer.shortest
  private var retries = 0
  /// A server and a far side may each have their own; one that asks for ever more is left.
  private static let mostRetries = 2

  /// The headers of an INVITE about timers.
  var headers: String { "Session-Expires: \(seconds)\r\nMin-SE: \(shortest)\r\n" }

  /// Takes over the shortest interval that a refusal names; false if an INVITE that asks for it
  /// would be no other (RFC 4028 section 7.3).
  mutating func retries(after status: Int, shortest header: String) -> Bool {
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
  /// The longest interval that is kept: a longer one would find no dead call in time.
  static let longest = 86_400
  /// The pause before a refresh that came to nothing is repeated, in seconds.
  private static let repetition: Int64 = 10

  /// The interval in seconds.
  let seconds: Int
  /// True if this side refreshes the session.
  let isRefresher: Bool
  /// True if the far side knows about timers, and so ends the call itself if it is not refreshed.
  let isShared: Bool
  private var startedAt: MonotonicInstant
  private var repeatsAt: MonotonicInstant?

  init(seconds: Int, isRefresher: Bool, isShared: Bool = true, at now: MonotonicInstant) {
    self.seconds = min(Self.longest, max(Self.shortest, seconds))
    self.isRefresher = isRefresher
    self.isShared = isShared
    startedAt = now
  }

  /// The timer that a Session-Expires header asks for; nil if it makes no sense.
  ///
  /// - Parameters:
  ///   - header: the header's value.
  ///   - isCaller: true on the side that sent the request that this is about.
  ///   - isShared: false if the far side has not said that it knows about timers. A proxy may ask
  ///     for one in its place; then it is this side that refreshes (RFC 4028 section 9).
  ///   - now: when it arrived.
  init?(_ header: String, isCaller: Bool, isShared: Bool = true, at now: MonotonicInstant) {
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

  /// Begins anew: before a call is answered there is nothing to refresh.
  mutating func restart(at now: MonotonicInstant) {
    startedAt = now
    repeatsAt = nil
  }

  /// The Session-Expires header of an answer, or of a request in which this side is the caller.
  func header(isCaller: Bool) -> String {
    let refresher: Refresher = isRefresher == isCaller ? .caller : .callee
    return "Session-Expires: \(seconds);refresher=\(refresher.rawValue)\r\n"
  }

  /// Notes that a refresh came to nothing on its way.
  ///
  /// RFC 4028 section 10 would end the call at once. But a network that is away for half a minute
  /// may come back before the interval is over, and until then the far side keeps the call as well.
  mutating func refreshWasLost(at now: MonotonicInstant) {
    repeatsAt = now.advanced(by: .seconds(Self.repetition))
  }

  /// What is to be done, and when (RFC 4028 section 10).
  var next: (step: Step, at: MonotonicInstant) {
    let end = startedAt.advanced(by: .seconds(seconds - min(32, seconds / 3)))
    guard isRefresher else { return (.end, end) }
    let refresh = repeatsAt ?? startedAt.advanced(by: .seconds(seconds / 2))
    return refresh < end ? (.refresh, refresh) : (.end, end)
  }
}
