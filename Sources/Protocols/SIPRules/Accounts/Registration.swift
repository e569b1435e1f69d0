package import MediaCore

/// The registration of an account with one of its servers (RFC 3261 section 10), without I/O: takes
/// events and returns effects.
///
/// | Phase | Event | Next phase |
/// |---|---|---|
/// | `idle` | `started` | `locating` |
/// | all but `stopped` | `networkChanged` | `locating` |
/// | `locating` | `located` without a server | `waiting` |
/// | `locating` | `located` | `registering` with the first server |
/// | `registering` | `accepted` | `registered` |
/// | `registering` | no answer in time, a server's fault, no more servers left | `waiting` |
/// | `registering` | no answer in time, a server's fault | `registering` with the next server |
/// | `registering` | `refused` with a cure: 423, 439 | `registering` with the same server |
/// | `registering` | `refused` for good | `waiting` |
/// | `registered` | time to renew | `registering` with the same server |
/// | `registered` | `connectionLost` | `locating`, or `waiting` if that happens again and again |
/// | `waiting` | its end | `locating` |
/// | all | `stopped` | `stopped` |
package struct Registration: Sendable {
  /// Something that happened to the registration.
  package enum Event: Equatable, Sendable {
    case started
    /// The machine has another address, or can reach the server again.
    case networkChanged
    /// The connection to the server has gone.
    case connectionLost
    /// The servers of the domain, in the order in which to try them.
    case located([SIPServer])
    /// A 200 to the last request: the registration lasts `seconds`.
    case accepted(seconds: Int)
    /// A final response that is not a success.
    case refused(code: Int, phrase: String, advice: Advice)
    /// The last request could not be sent, or there was no answer.
    case unanswered(reason: String)
    case timePassed
    case stopped
  }

  /// A server's hints for the next attempt.
  package struct Advice: Equatable, Sendable {
    /// `Retry-After`, in seconds.
    package var retryAfter: Int?
    /// `Min-Expires`, in seconds.
    package var minimumExpires: Int?
    /// True if the server asked for a digest that is not known here, so that no password was tried.
    package var isDigestUnknown = false

    package init(
      retryAfter: Int? = nil,
      minimumExpires: Int? = nil,
      isDigestUnknown: Bool = false
    ) {
      self.retryAfter = retryAfter
      self.minimumExpires = minimumExpires
      self.isDigestUnknown = isDigestUnknown
    }
  }

  /// An action that the registration demands.
  package enum Effect: Equatable, Sendable {
    /// Query the DNS, then report `located`.
    case locate
    /// Send a REGISTER, instead of one that is under way; then report its outcome.
    case register(SIPServer, seconds: Int)
    /// End the registration at the server.
    case unregister(SIPServer)
    case report(RegistrationState)
  }

  private enum Phase: Equatable {
    case idle
    case locating
    case registering(Int)
    case registered(Int)
    case waiting
    case stopped
  }

  private var phase = Phase.idle
  private var servers: [SIPServer] = []
  /// Duration to ask for, in seconds.
  package private(set) var expires: Int
  private var generator: SeededGenerator
  /// Number of consecutive rounds that failed.
  private var failures = 0
  /// First reason for a failure in the current round over the servers; nil without one.
  private var reason: String?
  private var hasRaisedExpires = false
  /// True while the server is asked for one registration for each flow, with a `reg-id` (RFC 5626);
  /// false after 439 (First Hop Lacks Outbound Support).
  package private(set) var usesOutbound = true
  private var acceptedAt: MonotonicInstant?
  /// Number of consecutive connections that ended soon after they were made.
  private var shortConnections = 0
  private var reported: RegistrationState?
  /// Time at which `timePassed` is due; nil while the next event comes by itself.
  package private(set) var deadline: MonotonicInstant?

  /// Time for a server to answer while another one is left, in seconds.
  ///
  /// RFC 3261's timer F would be 32 s.
  private static let patience = 4
  /// Duration below which a connection is a short one, in nanoseconds.
  private static let shortConnection: Int64 = 10_000_000_000
  /// Number of consecutive short connections that count as a fault of the server.
  private static let shortConnectionLimit = 3
  /// Longest pause before another round, in seconds (RFC 5626 section 4.5).
  private static let longestPause = 1_800
  /// Longest pause after the first failed round, in seconds (RFC 5626 section 4.5).
  private static let firstPause = 30

  package init(expires: Int, seed: UInt64) {
    self.expires = max(60, expires)
    generator = SeededGenerator(seed: seed)
  }

  /// True once this side has ended the registration.
  package var isStopped: Bool { phase == .stopped }

  /// True from an accepted REGISTER to the next renewal; false while a renewal is under way.
  package var isRegistered: Bool {
    if case .registered = phase { true } else { false }
  }

  /// The server that has the registration, or is asked for it; nil without one.
  package var server: SIPServer? {
    switch phase {
    case .registered(let index), .registering(let index):
      servers.indices.contains(index) ? servers[index] : nil
    case .idle, .locating, .waiting, .stopped: nil
    }
  }

  /// Applies an event and returns the resulting effects, in order.
  package mutating func handle(_ event: Event, at now: MonotonicInstant) -> [Effect] {
    guard phase != .stopped else { return [] }
    switch event {
    case .started:
      return phase == .idle ? locate() : []
    case .networkChanged:
      failures = 0
      usesOutbound = true
      return locate()
    case .connectionLost:
      guard case .registered = phase else { return [] }
      return reconnect(at: now)
    case .located(let servers):
      guard phase == .locating else { return [] }
      self.servers = servers
      reason = nil
      guard !servers.isEmpty else { return pause("the server's name is not known", at: now) }
      return register(0, at: now)
    case .accepted(let seconds):
      guard case .registering(let index) = phase else { return [] }
      return accept(index, seconds, at: now)
    case .refused(let code, let phrase, let advice):
      guard case .registering(let index) = phase else { return [] }
      return refuse(index, code, phrase, advice, at: now)
    case .unanswered(let reason):
      guard case .registering(let index) = phase else { return [] }
      return next(after: index, reason, at: now)
    case .timePassed:
      guard let deadline, now >= deadline else { return [] }
      return advance(at: now)
    case .stopped:
      let effects = registeredServer.map { [Effect.unregister($0)] } ?? []
      phase = .stopped
      deadline = nil
      return effects + report(.ended)
    }
  }

  private var registeredServer: SIPServer? {
    guard case .registered? = reported else { return nil }
    return server
  }

  private mutating func locate() -> [Effect] {
    phase = .locating
    deadline = nil
    return [.locate]
  }

  private mutating func reconnect(at now: MonotonicInstant) -> [Effect] {
    let lasted = acceptedAt.map { now.nanoseconds(since: $0) } ?? 0
    shortConnections = lasted < Self.shortConnection ? shortConnections + 1 : 0
    guard shortConnections >= Self.shortConnectionLimit else { return locate() }
    return pause("the server ends its connections", at: now)
  }

  private mutating func register(_ index: Int, at now: MonotonicInstant) -> [Effect] {
    phase = .registering(index)
    let isLast = index == servers.count - 1
    deadline = isLast ? nil : now.advanced(by: .seconds(Self.patience))
    return [.register(servers[index], seconds: expires)]
  }

  private mutating func accept(
    _ index: Int,
    _ seconds: Int,
    at now: MonotonicInstant
  ) -> [Effect] {
    phase = .registered(index)
    acceptedAt = now
    failures = 0
    hasRaisedExpires = false
    // Early enough for a second try before the end.
    let pause = max(1, seconds > 100 ? seconds - max(40, seconds / 10) : seconds / 2)
    deadline = now.advanced(by: .seconds(pause))
    return report(.registered(server: "\(servers[index])", seconds: seconds))
  }

  private mutating func refuse(
    _ index: Int,
    _ code: Int,
    _ phrase: String,
    _ advice: Advice,
    at now: MonotonicInstant
  ) -> [Effect] {
    switch code {
    case 423 where !hasRaisedExpires:
      hasRaisedExpires = true
      expires = max(expires, min(86_400, advice.minimumExpires ?? 3_600))
      return register(index, at: now)
    case 439 where usesOutbound:
      usesOutbound = false
      return register(index, at: now)
    case 401, 407:
      let reason =
        advice.isDigestUnknown
        ? "the server asks for a digest that is not known here"
        : "the server refuses the name or the password"
      return pause(reason, at: now)
    case 403:
      return pause("the server does not allow it: 403 \(phrase)", at: now)
    case 404:
      return pause("the server does not know this address: 404 \(phrase)", at: now)
    case 408, 430, 500...599:
      let reason = "the server has a fault: \(code) \(phrase)"
      if let after = advice.retryAfter, index == servers.count - 1 {
        return pause(self.reason ?? reason, for: after, at: now)
      }
      return next(after: index, reason, at: now)
    default:
      return pause("the server refuses: \(code) \(phrase)", at: now)
    }
  }

  private mutating func next(
    after index: Int,
    _ reason: String,
    at now: MonotonicInstant
  ) -> [Effect] {
    self.reason = self.reason ?? "\(servers[index]): \(reason)"
    guard index + 1 < servers.count else { return pause(self.reason ?? reason, at: now) }
    return register(index + 1, at: now)
  }

  private mutating func advance(at now: MonotonicInstant) -> [Effect] {
    deadline = nil
    switch phase {
    case .registering(let index): return next(after: index, "it does not answer", at: now)
    case .registered(let index): return register(index, at: now)
    case .waiting: return locate()
    case .idle, .locating, .stopped: return []
    }
  }

  // Half of the pause is drawn, so that the phones of a server that comes back do not come at once
  // (RFC 5626 section 4.5).
  private mutating func pause(
    _ reason: String,
    for asked: Int? = nil,
    at now: MonotonicInstant
  ) -> [Effect] {
    let longest = min(Self.longestPause, Self.firstPause << min(failures, 6))
    failures += 1
    let drawn = Int.random(in: longest / 2...longest, using: &generator)
    let pause = min(Self.longestPause, max(asked ?? 0, drawn))
    phase = .waiting
    deadline = now.advanced(by: .seconds(pause))
    return report(.failed(reason: reason, retryingAfter: pause))
  }

  // A renewal is no news.
  private mutating func report(_ state: RegistrationState) -> [Effect] {
    guard state != reported else { return [] }
    reported = state
    return [.report(state)]
  }
}
