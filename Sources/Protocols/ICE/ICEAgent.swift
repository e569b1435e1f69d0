package import MediaCore
package import NetworkAddress

/// Finds a path for the voice between two machines that may both be behind routers (RFC 8445).
///
/// Without I/O: events go in, the actions for them come out.
///
/// It collects the addresses of this side (`CandidateGathering`), checks each of them with each of
/// the far side's, best first, and agrees with the far side on one pair. While the call lasts it
/// asks every few seconds whether the far side still consents to receive (RFC 7675).
///
/// One component: RTP and RTCP share a port (RFC 5761). Time is an argument.
///
/// ```swift
/// var agent = ICEAgent(
///   .controlling,
///   hosts: hosts,
///   credentials: credentials,
///   tiebreaker: tiebreaker,
///   randomness: SystemRandomNumberGenerator()
/// )
/// var effects = agent.handle(.started, at: now)
/// // Once `.gathered` has come out, `agent.description` is what to offer.
/// effects += agent.handle(.described(remote), at: now)
/// ```
package struct ICEAgent: Sendable {
  /// Something that happened.
  package enum Event: Equatable, Sendable {
    /// Addresses are to be collected.
    case started
    /// A TURN server has allocated an address for the call.
    case relayed(SocketAddress)
    /// No TURN server has allocated an address for the call.
    case relayFailed
    /// The far side's description has been received.
    case described(ICEDescription)
    /// The call is established: checks have a limited time from now on.
    case confirmed
    /// A message has been received, at one of this side's addresses.
    case received(BindingMessage, from: SocketAddress, at: ICEOutlet)
    /// The far side goes on without ICE: connectivity and consent checks stop.
    case suspended
    /// An ICE restart, since this machine has moved or the path is lost: candidates are collected
    /// anew. The voice keeps its path until there is another one.
    case restarted(hosts: [SocketAddress], ICECredentials)
    case timePassed
  }

  /// An action for the caller.
  package enum Effect: Equatable, Sendable {
    /// Send a message, signed with a password if there is one.
    case send(BindingMessage, password: String?, to: SocketAddress, from: ICEOutlet)
    /// This side's description is complete, or has a candidate more that is to be offered.
    case gathered
    /// The voice takes this path from now on.
    case selected(ICEPath)
    /// No path was found.
    case failed
    /// The far side has not confirmed its consent for half a minute.
    case consentExpired
  }

  /// The purpose of a request.
  enum Purpose: Equatable, Sendable {
    case gathering
    case check
    case nomination
    case consent
  }

  /// A request that waits for its response.
  struct Exchange: Sendable {
    let message: BindingMessage
    let purpose: Purpose
    let password: String?
    let destination: SocketAddress
    let base: ICEOutlet
    var isRepeated: Bool
    var isHastened = false
    var attempts = 1
    var sentAt: MonotonicInstant
    var nextAt: MonotonicInstant
    /// Pause between the next repetition and the one after it, in nanoseconds.
    var pause: Int64
  }

  /// The phase of the agent.
  enum Phase: Equatable, Sendable {
    case idle
    case gathering(until: MonotonicInstant)
    case gathered
    case checking(until: MonotonicInstant)
    case connected
    case failed
  }

  /// This side's role, which a conflict of roles may change.
  package internal(set) var role: ICERole
  /// The description of this side, to be sent to the far side.
  package var description: ICEDescription {
    ICEDescription(credentials: credentials, candidates: candidates)
  }
  /// The path of the voice; nil before there is one.
  package internal(set) var path: ICEPath?

  var phase = Phase.idle
  var hosts: [SocketAddress]
  let servers: [SocketAddress]
  let hasRelay: Bool
  var isRelayAwaited = false
  /// True for a relayed address that the far side may not know of.
  var isRelayLate = false
  var candidates: [ICECandidate] = []
  var exchanges: [Exchange] = []
  /// Time to ask the servers again, so that routers remember the call's port.
  var refreshAt: MonotonicInstant?
  var credentials: ICECredentials
  var remote: ICEDescription?
  var tiebreaker: UInt64
  var generator: any RandomNumberGenerator & Sendable
  var pairs: [CandidatePair] = []
  var budget = CheckBudget()
  /// Triggered-check queue (RFC 8445 section 6.1.4.1): pairs to check next, after a request of the
  /// far side's or a role conflict.
  var triggered: [(base: ICEOutlet, address: SocketAddress)] = []
  /// Requests that arrived before the far side's description.
  var early: [(message: BindingMessage, address: SocketAddress, base: ICEOutlet)] = []
  var nextCheckAt: MonotonicInstant?
  /// Time until which the candidates of the first description are checked alone.
  var firstChecksUntil: MonotonicInstant?
  var firstValidAt: MonotonicInstant?
  /// True once the far side is known to have this side's description.
  var isConfirmed = false
  var firstRoundTrip: Int64 = 0
  var nextConsentAt: MonotonicInstant?
  var consentUntil: MonotonicInstant?

  /// Pause between the starts of two checks, in nanoseconds (RFC 8445 section 14).
  static let pace: Int64 = 20_000_000
  /// Pause before the first repetition of a request, in nanoseconds.
  ///
  /// Each further pause is half as long again, up to `longestPause`, or to `pace` times the number
  /// of checks under way.
  ///
  /// A third of all requests fail if one packet in five is lost each way: pauses that double (RFC
  /// 8489 section 6.2.1) leave five chances in as many seconds.
  static let firstPause: Int64 = 100_000_000
  static let longestPause: Int64 = 300_000_000
  /// Maximum number of times that a request is sent.
  ///
  /// Until there is a path, checks are repeated for as long as `patience` lasts.
  static let attemptLimit = 8
  /// Time to wait for the response to the last transmission of a request, in nanoseconds.
  static let lastPause: Int64 = 1_000_000_000
  /// Time in nanoseconds for checks of the candidates that both sides know, before a late one is
  /// offered.
  static let firstChecksNanoseconds: Int64 = 500_000_000
  /// Time for all checks on the controlling side, in nanoseconds; `followingPatience` on the
  /// controlled side is longer, so that the controlling side gives up first.
  private static let checkPatience: Int64 = 8_000_000_000
  private static let followingPatience: Int64 = 9_500_000_000
  var patience: Int64 { role == .controlling ? Self.checkPatience : Self.followingPatience }
  /// Time to wait for better pairs after the first one works: nanoseconds plus round trips of the
  /// first; `relayGrace` applies while the best working pair uses a relay.
  ///
  /// A router may first have to be opened from the other side, and a relay is the last resort.
  static let directGrace: (nanoseconds: Int64, roundTrips: Int64) = (20_000_000, 1)
  static let relayGrace: (nanoseconds: Int64, roundTrips: Int64) = (250_000_000, 3)
  /// Most candidates of the far side that are used, as more only make work; `pairLimit` and
  /// `earlyLimit` are the same for pairs and for early requests.
  static let candidateLimit = 16
  static let pairLimit = 48
  static let earlyLimit = 16
  /// Mean pause between checks of consent, in nanoseconds, varied by a fifth; consent ends after
  /// `consentNanoseconds` (RFC 7675 section 5.1).
  static let consentPause: Int64 = 5_000_000_000
  static let consentNanoseconds: Int64 = 30_000_000_000
  /// Time in nanoseconds by which the last response on the path may be older than another pair's;
  /// beyond it the voice moves to that pair.
  static let staleNanoseconds: Int64 = 7_000_000_000

  /// An agent that has not started.
  ///
  /// - Parameters:
  ///   - role: the role of this side; the side that sends the offer is controlling.
  ///   - hosts: the call's port at each of this machine's addresses, best first, of one family.
  ///   - credentials: random ones.
  ///   - tiebreaker: any random number.
  ///   - servers: STUN servers to ask for this side's address.
  ///   - hasRelay: true if `relayed` or `relayFailed` will come.
  ///   - randomness: for transactions and pauses. Its numbers have to be unpredictable (RFC 8489
  ///     section 5): a known transaction can be answered from any address.
  package init(
    _ role: ICERole,
    hosts: [SocketAddress],
    credentials: ICECredentials,
    tiebreaker: UInt64,
    servers: [SocketAddress] = [],
    hasRelay: Bool = false,
    randomness: any RandomNumberGenerator & Sendable
  ) {
    self.role = role
    self.hosts = hosts
    self.credentials = credentials
    self.tiebreaker = tiebreaker
    self.servers = servers
    self.hasRelay = hasRelay
    generator = randomness
  }

  /// The password that responses to this side's checks are signed with; nil before the far side is
  /// described.
  package var remotePassword: String? { remote?.credentials.password }
  /// The password that the far side's checks are signed with.
  package var localPassword: String { credentials.password }

  /// Time at which `timePassed` is due; nil while nothing is scheduled.
  package var deadline: MonotonicInstant? {
    var times = exchanges.map(\.nextAt)
    times += [refreshAt, nextCheckAt, graceEnd, lateOfferAt].compactMap { $0 }
    times += [nextConsentAt, consentUntil].compactMap { $0 }
    switch phase {
    case .gathering(let end): times.append(end)
    case .checking: times += [checksEnd].compactMap { $0 }
    case .idle, .gathered, .connected, .failed: break
    }
    return times.min()
  }

  /// Handles an event and returns the actions for it, in order.
  package mutating func handle(_ event: Event, at now: MonotonicInstant) -> [Effect] {
    switch event {
    case .started:
      return gather(at: now)
    case .relayed(let address):
      return addRelay(address, at: now)
    case .relayFailed:
      isRelayAwaited = false
      return endGathering(at: now)
    case .described(let description):
      return begin(with: description, at: now)
    case .confirmed:
      return confirm(at: now)
    case .received(let message, let source, let base):
      return receive(message, from: source, at: base, now)
    case .suspended:
      suspend()
      return []
    case .restarted(let hosts, let credentials):
      self.hosts = hosts
      restart(with: credentials)
      remote = nil
      return gather(at: now)
    case .timePassed:
      return advance(to: now)
    }
  }

  // MARK: Time

  mutating func advance(to now: MonotonicInstant) -> [Effect] {
    var effects = repeatRequests(at: now) + refresh(at: now)
    if case .gathering(let end) = phase, now >= end { effects += endGathering(at: now) }
    effects += check(at: now) + offerLateRelay(at: now) + keepConsent(at: now)
    if let checksEnd, now >= checksEnd { effects += fail() }
    return effects
  }

  mutating func fail() -> [Effect] {
    phase = .failed
    exchanges = []
    (nextCheckAt, nextConsentAt, consentUntil, refreshAt) = (nil, nil, nil, nil)
    return [.failed]
  }

  mutating func check(at now: MonotonicInstant) -> [Effect] {
    var effects = nominate(at: now)
    while let due = nextCheckAt, now >= due {
      guard let next = nextPair() else {
        nextCheckAt = nil
        break
      }
      nextCheckAt = now.advanced(byNanoseconds: Self.pace)
      guard mayCheck(pairs[next].base, pairs[next].remote.address) else {
        pairs[next].state = .failed
        continue
      }
      pairs[next].state = .inProgress
      effects.append(request(.check, on: pairs[next], at: now))
    }
    return effects
  }

  // True if one more check may go by a pair: one that a request of the far side's has asked for, or
  // one on trust.
  mutating func mayCheck(_ base: ICEOutlet, _ address: SocketAddress) -> Bool {
    if let index = pairs.firstIndex(where: { $0.isFor(base, address) && $0.isOwedCheck }) {
      pairs[index].isOwedCheck = false
      return true
    }
    return budget.take(address.host)
  }

  mutating func nextPair() -> Int? {
    while !triggered.isEmpty {
      let next = triggered.removeFirst()
      let index = pairs.firstIndex { $0.isFor(next.base, next.address) && $0.state == .waiting }
      if let index { return index }
    }
    // Once there is a way, only those are of interest that the far side uses.
    guard phase != .connected else { return nil }
    return pairs.firstIndex { $0.state == .waiting }
  }

  mutating func hasten(_ index: Int, _ now: MonotonicInstant) {
    for place in exchanges.indices
    where pairs[index].isFor(exchanges[place].base, exchanges[place].destination)
      && !exchanges[place].isHastened
    {
      exchanges[place].isHastened = true
      // One more, not one of those that it has anyway.
      exchanges[place].attempts -= 1
      exchanges[place].nextAt = now
    }
  }

  mutating func repeatRequests(at now: MonotonicInstant) -> [Effect] {
    var effects: [Effect] = []
    for index in exchanges.indices.reversed() where now >= exchanges[index].nextAt {
      let exchange = exchanges[index]
      let isPersistent = exchange.purpose == .check && phase != .connected
      guard exchange.isRepeated, isPersistent || exchange.attempts < Self.attemptLimit else {
        exchanges.remove(at: index)
        giveUp(exchange, at: now)
        continue
      }
      exchanges[index].attempts += 1
      let isLast = !isPersistent && exchange.attempts + 1 == Self.attemptLimit
      exchanges[index].nextAt = now.advanced(
        byNanoseconds: isLast ? Self.lastPause : exchange.pause
      )
      // Many pairs share the pace of the first checks (RFC 8445 section 14.3).
      let checks = exchange.purpose == .check ? exchanges.count { $0.purpose == .check } : 0
      let longest = max(Self.longestPause, Self.pace * Int64(checks))
      exchanges[index].pause = min(exchange.pause * 3 / 2, longest)
      // What has been sent may be answered until its time is over.
      guard exchange.purpose == .gathering || mayCheck(exchange.base, exchange.destination) else {
        continue
      }
      exchanges[index].sentAt = now
      effects.append(sending(exchange))
    }
    return effects
  }

  mutating func giveUp(_ exchange: Exchange, at now: MonotonicInstant) {
    guard let index = pairs.firstIndex(where: { $0.isFor(exchange.base, exchange.destination) })
    else { return }
    switch exchange.purpose {
    case .gathering, .consent: return
    case .check: pairs[index].state = .failed
    case .nomination:
      // It has worked before: what was lost may be the nominations alone.
      pairs[index].state = .waiting
      nextCheckAt = nextCheckAt ?? now
    }
  }
}
