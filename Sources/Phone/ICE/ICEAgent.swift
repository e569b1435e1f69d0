package import MediaCore
package import UDPTransport

/// Finds a way for the voice between two machines of which each may be behind routers (RFC 8445),
/// without I/O: what happened goes in, what to do about it comes out.
///
/// It collects the addresses of this side (`CandidateGathering`), checks each of them with each of
/// the far side's, best first, and agrees with the far side on one pair. While the call lasts it
/// asks every few seconds whether the far side still wants what it gets (RFC 7675).
///
/// One component: RTP and RTCP share a port (RFC 5761). Time is an argument.
///
/// ```swift
/// var agent = ICEAgent(.controlling, hosts: hosts, credentials: credentials, servers: [], seed: 1)
/// var effects = agent.handle(.started, at: now)
/// // Once `.gathered` has come out, `agent.description` is what to offer.
/// effects += agent.handle(.described(remote), at: now)
/// ```
package struct ICEAgent: Sendable {
  /// Something that happened.
  package enum Event: Equatable, Sendable {
    /// Addresses are to be collected.
    case started
    /// A TURN server holds an address for the call.
    case relayed(SocketAddress)
    /// It does not.
    case relayFailed
    /// What the far side's description says.
    case described(ICEDescription)
    /// A message has come, at one of this side's addresses.
    case received(BindingMessage, from: SocketAddress, at: ICEBase)
    /// The pair of before is given up, since this machine has moved: with new credentials, for
    /// another offer.
    case restarted(hosts: [SocketAddress], ICECredentials)
    case timePassed
  }

  /// What to do.
  package enum Effect: Equatable, Sendable {
    /// Send a message, signed with a password if there is one.
    case send(BindingMessage, password: String?, to: SocketAddress, from: ICEBase)
    /// This side's description is complete.
    case gathered
    /// The voice goes this way from now on.
    case selected(ICEPath)
    /// No way was found.
    case failed
    /// The far side has not wanted anything for half a minute.
    case consentExpired
  }

  /// What a request was sent for.
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
    let base: ICEBase
    var isRepeated: Bool
    var attempts = 1
    var sentAt: MonotonicInstant
    var nextAt: MonotonicInstant
    /// The pause before the next repetition, then before giving up.
    var pause: Int64
  }

  /// How far the agent has come.
  enum Phase: Equatable, Sendable {
    case idle
    case gathering(until: MonotonicInstant)
    case gathered
    case checking(until: MonotonicInstant)
    case connected
    case failed
  }

  /// The side that decides, until a conflict says otherwise.
  package private(set) var role: ICERole
  /// What to say to the far side.
  package var description: ICEDescription {
    ICEDescription(credentials: credentials, candidates: candidates)
  }
  /// The way of the voice, nil before there is one.
  package private(set) var path: ICEPath?

  var phase = Phase.idle
  var hosts: [SocketAddress]
  let servers: [SocketAddress]
  let hasRelay: Bool
  var isRelayAwaited = false
  var candidates: [ICECandidate] = []
  var exchanges: [Exchange] = []
  /// When to ask the servers again, so that routers remember the call's port.
  var refreshAt: MonotonicInstant?
  private var credentials: ICECredentials
  private var remote: ICEDescription?
  private var tiebreaker: UInt64
  private var generator: SeededGenerator
  private var pairs: [CandidatePair] = []
  /// Pairs to be checked before their turn, since the far side has just come through on them.
  private var triggered: [(base: ICEBase, address: SocketAddress)] = []
  /// Requests that came before the far side's description.
  private var early: [(message: BindingMessage, address: SocketAddress, base: ICEBase)] = []
  private var nextCheckAt: MonotonicInstant?
  private var firstValidAt: MonotonicInstant?
  private var firstRoundTrip: Int64 = 0
  private var nextConsentAt: MonotonicInstant?
  private var consentUntil: MonotonicInstant?

  /// One check starts after the other with this pause (RFC 8445 section 14).
  private static let pace: Int64 = 20_000_000
  /// The first pause before a request is repeated; each later one is twice as long.
  static let firstPause: Int64 = 100_000_000
  private static let attemptLimit = 6
  /// How long the checks may go on in all.
  private static let checkPatience: Int64 = 8_000_000_000
  /// How long better pairs may take once one is known to work, and how many round trips of that one
  /// besides: a router may first have to be opened from the other side, and a relay is the last
  /// resort.
  private static let directGrace: (nanoseconds: Int64, roundTrips: Int64) = (20_000_000, 1)
  private static let relayGrace: (nanoseconds: Int64, roundTrips: Int64) = (250_000_000, 3)
  /// More candidates and pairs than that only make work.
  private static let candidateLimit = 16
  private static let pairLimit = 48
  private static let earlyLimit = 16
  /// RFC 7675 section 5.1: every 5 s, give or take a fifth, and the end after 30 s.
  private static let consentPause: Int64 = 5_000_000_000
  private static let consentNanoseconds: Int64 = 30_000_000_000
  /// A pair that has not answered for so long gives way to one that has.
  private static let staleNanoseconds: Int64 = 7_000_000_000

  /// An agent that has not begun.
  ///
  /// - Parameters:
  ///   - role: the side that sends the offer is controlling.
  ///   - hosts: the call's port at each of this machine's addresses, best first, of one family.
  ///   - credentials: random ones.
  ///   - tiebreaker: any random number.
  ///   - servers: STUN servers to ask for this side's address.
  ///   - hasRelay: true if `relayed` or `relayFailed` will come.
  ///   - seed: for names of requests and for pauses.
  package init(
    _ role: ICERole,
    hosts: [SocketAddress],
    credentials: ICECredentials,
    tiebreaker: UInt64,
    servers: [SocketAddress] = [],
    hasRelay: Bool = false,
    seed: UInt64
  ) {
    self.role = role
    self.hosts = hosts
    self.credentials = credentials
    self.tiebreaker = tiebreaker
    self.servers = servers
    self.hasRelay = hasRelay
    generator = SeededGenerator(seed: seed)
  }

  /// What responses to this side's checks are signed with, nil before the far side is described.
  package var remotePassword: String? { remote?.credentials.password }
  /// What checks of the far side's are signed with.
  package var localPassword: String { credentials.password }

  /// When `timePassed` is due; nil while nothing is waited for.
  package var deadline: MonotonicInstant? {
    var times = exchanges.map(\.nextAt) + [refreshAt, nextCheckAt, graceEnd].compactMap { $0 }
    times += [nextConsentAt, consentUntil].compactMap { $0 }
    switch phase {
    case .gathering(let end), .checking(let end): times.append(end)
    case .idle, .gathered, .connected, .failed: break
    }
    return times.min()
  }

  /// Takes in an event and returns what to do about it, in order.
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
    case .received(let message, let source, let base):
      return receive(message, from: source, at: base, now)
    case .restarted(let hosts, let credentials):
      self.hosts = hosts
      restart(with: credentials)
      remote = nil
      return gather(at: now)
    case .timePassed:
      return advance(to: now)
    }
  }

  // MARK: Beginning

  private mutating func begin(
    with description: ICEDescription,
    at now: MonotonicInstant
  ) -> [Effect] {
    guard remote?.credentials != description.credentials else { return [] }
    if description.isLite { role = .controlling }
    remote = description
    pairs = []
    for candidate in description.candidates.prefix(Self.candidateLimit) { pair(with: candidate) }
    phase = .checking(until: now.advanced(byNanoseconds: Self.checkPatience))
    nextCheckAt = now
    let arrived = early
    early = []
    var effects: [Effect] = []
    for request in arrived {
      effects += take(request.message, from: request.address, at: request.base, now)
    }
    return effects + check(at: now)
  }

  /// Goes on with other credentials; the voice keeps its way until there is another one.
  ///
  /// Called before the description of a far side that has begun anew is taken in.
  package mutating func restart(with credentials: ICECredentials) {
    self.credentials = credentials
    exchanges.removeAll { $0.purpose != .gathering }
    (triggered, early, pairs) = ([], [], [])
    (nextCheckAt, firstValidAt, nextConsentAt, consentUntil) = (nil, nil, nil, nil)
  }

  /// True if a description is of a far side that has begun anew (RFC 8445 section 9).
  package func isRestart(_ description: ICEDescription) -> Bool {
    remote.map { $0.credentials != description.credentials } ?? false
  }

  private var bases: [ICEBase] {
    candidates.contains { $0.kind == .relayed } ? [.socket, .relay] : [.socket]
  }

  private mutating func pair(with candidate: ICECandidate) {
    for base in bases where !pairs.contains(where: { $0.isFor(base, candidate.address) }) {
      guard family(of: base) == candidate.address.isIPv6 else { continue }
      add(CandidatePair(base, to: candidate, localPriority: priority(of: base), role))
    }
  }

  private func priority(of base: ICEBase) -> UInt32 {
    candidate(of: base)?.priority ?? ICECandidate.priority(.peerReflexive)
  }

  private func candidate(of base: ICEBase) -> ICECandidate? {
    candidates.first { $0.kind == (base == .relay ? .relayed : .host) }
  }

  // True for IPv6, nil for an address that is not there.
  private func family(of base: ICEBase) -> Bool? { candidate(of: base)?.address.isIPv6 }

  private mutating func add(_ pair: CandidatePair) {
    guard pairs.count < Self.pairLimit else { return }
    let place = pairs.firstIndex { $0.priority < pair.priority } ?? pairs.endIndex
    pairs.insert(pair, at: place)
  }

  // An address of a relay that came after the far side's description.
  mutating func pairRelay() {
    guard let remote, case .checking = phase else { return }
    for candidate in remote.candidates.prefix(Self.candidateLimit) { pair(with: candidate) }
  }

  // MARK: Messages

  private mutating func receive(
    _ message: BindingMessage,
    from source: SocketAddress,
    at base: ICEBase,
    _ now: MonotonicInstant
  ) -> [Effect] {
    switch message.kind {
    case .indication: return []
    case .request: return take(message, from: source, at: base, now)
    case .success, .failure: return conclude(with: message, from: source, at: base, now)
    }
  }

  // What is not signed gets no answer: it would help those who look for machines to misuse.
  private mutating func take(
    _ request: BindingMessage,
    from source: SocketAddress,
    at base: ICEBase,
    _ now: MonotonicInstant
  ) -> [Effect] {
    guard request.isAuthentic, isNamed(in: request) else { return [] }
    if let conflict = settleRoles(request) {
      return [reply(.failure(conflict), to: request, source, base)]
    }
    var effects = [reply(.success, to: request, source, base)]
    guard let remote else {
      if early.count < Self.earlyLimit { early.append((request, source, base)) }
      return effects
    }
    guard phase != .failed, !remote.isLite else { return effects }
    if !pairs.contains(where: { $0.isFor(base, source) }) {
      let kind = ICECandidate.Kind.peerReflexive
      let priority = request.priority ?? ICECandidate.priority(kind)
      let candidate = ICECandidate(kind, source, priority: priority)
      add(CandidatePair(base, to: candidate, localPriority: self.priority(of: base), role))
    }
    guard let index = pairs.firstIndex(where: { $0.isFor(base, source) }) else { return effects }
    if request.nominates, role == .controlled {
      pairs[index].isNominated = true
      effects += select(at: now)
    }
    switch pairs[index].state {
    case .succeeded:
      break
    case .inProgress:
      // The far side's packets come through: so may ours now.
      hasten(index, now)
    case .waiting, .failed:
      pairs[index].state = .waiting
      if !triggered.contains(where: { $0 == (base, source) }) { triggered.append((base, source)) }
      nextCheckAt = nextCheckAt ?? now
    }
    return effects + check(at: now)
  }

  private func isNamed(in request: BindingMessage) -> Bool {
    guard let parts = request.username?.split(separator: ":"), parts.count == 2 else {
      return false
    }
    return parts[0] == credentials.userFragment
      && (remote.map { parts[1] == $0.credentials.userFragment } ?? true)
  }

  // RFC 8445 section 7.3.1.1; the code to refuse a request with.
  private mutating func settleRoles(_ request: BindingMessage) -> Int? {
    guard request.role == role else { return nil }
    guard (tiebreaker >= request.tiebreaker) == (role == .controlling) else {
      switchRole()
      return nil
    }
    return 487
  }

  private mutating func switchRole() {
    role = role == .controlling ? .controlled : .controlling
    pairs = pairs.map {
      var pair = CandidatePair($0.base, to: $0.remote, localPriority: priority(of: $0.base), role)
      (pair.state, pair.localKind) = ($0.state, $0.localKind)
      (pair.isNominated, pair.answeredAt) = ($0.isNominated, $0.answeredAt)
      return pair
    }
    pairs.sort { $0.priority > $1.priority }
  }

  private func reply(
    _ kind: BindingMessage.Kind,
    to request: BindingMessage,
    _ source: SocketAddress,
    _ base: ICEBase
  ) -> Effect {
    var answer = BindingMessage(kind, transaction: request.transaction)
    answer.mapped = kind == .success ? source : nil
    return .send(answer, password: credentials.password, to: source, from: base)
  }

  private mutating func conclude(
    with response: BindingMessage,
    from source: SocketAddress,
    at base: ICEBase,
    _ now: MonotonicInstant
  ) -> [Effect] {
    let index = exchanges.firstIndex {
      $0.message.transaction == response.transaction && $0.destination == source
        && $0.base == base
    }
    guard let index else { return [] }
    // A server has no password in common with this side.
    guard exchanges[index].purpose == .gathering || response.isAuthentic else { return [] }
    let exchange = exchanges.remove(at: index)
    if exchange.purpose == .gathering { return gathered(response, exchange, at: now) }
    guard let index = pairs.firstIndex(where: { $0.isFor(base, source) }) else { return [] }
    guard response.kind == .success, let mapped = response.mapped else {
      return refused(index, response, exchange, at: now)
    }
    if firstValidAt == nil { firstRoundTrip = now.nanoseconds(since: exchange.sentAt) }
    succeed(index, seenAs: mapped, at: now)
    if exchange.purpose == .nomination { pairs[index].isNominated = true }
    return select(at: now) + check(at: now)
  }

  private mutating func refused(
    _ index: Int,
    _ response: BindingMessage,
    _ exchange: Exchange,
    at now: MonotonicInstant
  ) -> [Effect] {
    guard response.kind == .failure(487), exchange.message.role == role else {
      if exchange.purpose != .consent { pairs[index].state = .failed }
      return check(at: now)
    }
    let (base, address) = (pairs[index].base, pairs[index].remote.address)
    pairs[index].state = .waiting
    switchRole()
    triggered.append((base, address))
    nextCheckAt = nextCheckAt ?? now
    return check(at: now)
  }

  private mutating func succeed(
    _ index: Int,
    seenAs mapped: SocketAddress,
    at now: MonotonicInstant
  ) {
    pairs[index].state = .succeeded
    pairs[index].answeredAt = now
    if pairs[index].base == .socket {
      pairs[index].localKind =
        candidates.first { $0.address == mapped }?.kind ?? .peerReflexive
    }
    firstValidAt = firstValidAt ?? now
    consentUntil = now.advanced(byNanoseconds: Self.consentNanoseconds)
  }

  // MARK: Choosing

  private var best: CandidatePair? { pairs.first { $0.state == .succeeded } }

  // When the best pair is taken that works, though a better one may still come; nil if nothing is
  // to be chosen.
  private var graceEnd: MonotonicInstant? {
    guard role == .controlling, let best, let firstValidAt, isOpen else { return nil }
    let isDirect = best.base == .socket && best.remote.kind != .relayed
    let grace = isDirect ? Self.directGrace : Self.relayGrace
    return firstValidAt.advanced(
      byNanoseconds: grace.nanoseconds + grace.roundTrips * firstRoundTrip
    )
  }

  // True while no pair is chosen or being chosen.
  private var isOpen: Bool {
    guard case .checking = phase else { return false }
    return !exchanges.contains { $0.purpose == .nomination }
      && !pairs.contains { $0.isNominated && $0.state == .succeeded }
  }

  private mutating func nominate(at now: MonotonicInstant) -> [Effect] {
    guard role == .controlling, isOpen, let best, let graceEnd else { return [] }
    let isBetterPending = pairs.contains { $0.priority > best.priority && $0.isPending }
    guard !isBetterPending || now >= graceEnd else { return [] }
    return [request(.nomination, on: best, at: now)]
  }

  // Of several that the far side has nominated the best one counts (RFC 5245 section 8.1.1.2).
  private mutating func select(at now: MonotonicInstant) -> [Effect] {
    guard let chosen = pairs.first(where: { $0.isNominated && $0.state == .succeeded }) else {
      return []
    }
    return take(chosen, at: now)
  }

  private mutating func take(_ pair: CandidatePair, at now: MonotonicInstant) -> [Effect] {
    let isFirst = phase != .connected
    phase = .connected
    refreshAt = nil
    if isFirst {
      nextConsentAt = now.advanced(byNanoseconds: consentPause())
      exchanges.removeAll { $0.purpose == .gathering }
    }
    let path = ICEPath(
      remote: pair.remote.address,
      base: pair.base,
      localKind: pair.localKind,
      remoteKind: pair.remote.kind
    )
    guard isFirst || self.path?.remote != path.remote || self.path?.base != path.base else {
      return []
    }
    self.path = path
    return [.selected(path)]
  }

  // MARK: Time

  private mutating func advance(to now: MonotonicInstant) -> [Effect] {
    var effects = repeatRequests(at: now) + refresh(at: now)
    if case .gathering(let end) = phase, now >= end { effects += endGathering(at: now) }
    effects += check(at: now) + keepConsent(at: now)
    if case .checking(let end) = phase, now >= end { effects += fail() }
    return effects
  }

  private mutating func fail() -> [Effect] {
    phase = .failed
    exchanges = []
    (nextCheckAt, nextConsentAt, consentUntil, refreshAt) = (nil, nil, nil, nil)
    return [.failed]
  }

  private mutating func check(at now: MonotonicInstant) -> [Effect] {
    var effects = nominate(at: now)
    while let due = nextCheckAt, now >= due {
      guard let next = nextPair() else {
        nextCheckAt = nil
        break
      }
      nextCheckAt = now.advanced(byNanoseconds: Self.pace)
      pairs[next].state = .inProgress
      effects.append(request(.check, on: pairs[next], at: now))
    }
    return effects
  }

  private mutating func nextPair() -> Int? {
    while !triggered.isEmpty {
      let next = triggered.removeFirst()
      let index = pairs.firstIndex { $0.isFor(next.base, next.address) && $0.state == .waiting }
      if let index { return index }
    }
    // Once there is a way, only those are of interest that the far side uses.
    guard phase != .connected else { return nil }
    return pairs.firstIndex { $0.state == .waiting }
  }

  private mutating func hasten(_ index: Int, _ now: MonotonicInstant) {
    for place in exchanges.indices
    where pairs[index].isFor(exchanges[place].base, exchanges[place].destination) {
      exchanges[place].nextAt = now
      exchanges[place].pause = Self.firstPause
    }
  }

  private mutating func repeatRequests(at now: MonotonicInstant) -> [Effect] {
    var effects: [Effect] = []
    for index in exchanges.indices.reversed() where now >= exchanges[index].nextAt {
      let exchange = exchanges[index]
      guard exchange.isRepeated, exchange.attempts < Self.attemptLimit else {
        exchanges.remove(at: index)
        giveUp(exchange)
        continue
      }
      exchanges[index].attempts += 1
      exchanges[index].sentAt = now
      exchanges[index].nextAt = now.advanced(byNanoseconds: exchange.pause)
      exchanges[index].pause = exchange.pause * 2
      effects.append(sending(exchange))
    }
    return effects
  }

  private mutating func giveUp(_ exchange: Exchange) {
    guard exchange.purpose == .check || exchange.purpose == .nomination,
      let index = pairs.firstIndex(where: { $0.isFor(exchange.base, exchange.destination) })
    else { return }
    pairs[index].state = .failed
  }

  private mutating func keepConsent(at now: MonotonicInstant) -> [Effect] {
    guard phase == .connected else { return [] }
    if let consentUntil, now >= consentUntil {
      _ = fail()
      return [.consentExpired]
    }
    guard let due = nextConsentAt, now >= due, let path else { return [] }
    nextConsentAt = now.advanced(byNanoseconds: consentPause())
    let chosen = pairs.first { $0.isFor(path.base, path.remote) }
    let live = pairs.filter { $0.state == .succeeded }
      .max { ($0.answeredAt ?? now) < ($1.answeredAt ?? now) }
    var effects: [Effect] = []
    // The far side is elsewhere now, and has been heard from there.
    if let live, let latest = live.answeredAt, let before = chosen?.answeredAt,
      latest.nanoseconds(since: before) > Self.staleNanoseconds
    {
      effects += take(live, at: now)
    }
    for pair in [chosen, live].compactMap({ $0 }) where effects.count < 3 {
      let isAsked = exchanges.contains { pair.isFor($0.base, $0.destination) }
      if !isAsked { effects.append(request(.consent, on: pair, at: now)) }
    }
    return effects
  }

  private mutating func consentPause() -> Int64 {
    Int64(Double(Self.consentPause) * (0.8 + 0.4 * generator.unit()))
  }

  // MARK: Requests

  mutating func newTransaction() -> [UInt8] {
    (0..<12).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  private mutating func request(
    _ purpose: Purpose,
    on pair: CandidatePair,
    at now: MonotonicInstant
  ) -> Effect {
    var message = BindingMessage(.request, transaction: newTransaction())
    let theirs = remote?.credentials.userFragment ?? ""
    message.username = "\(theirs):\(credentials.userFragment)"
    message.priority = ICECandidate.priority(.peerReflexive)
    message.role = role
    message.tiebreaker = tiebreaker
    message.nominates = purpose == .nomination
    let exchange = Exchange(
      message: message,
      purpose: purpose,
      password: remotePassword,
      destination: pair.remote.address,
      base: pair.base,
      isRepeated: purpose != .consent,
      sentAt: now,
      nextAt: now.advanced(
        byNanoseconds: purpose == .consent ? Self.consentPause * 3 / 4 : Self.firstPause
      ),
      pause: Self.firstPause * 2
    )
    exchanges.append(exchange)
    return sending(exchange)
  }

  func sending(_ exchange: Exchange) -> Effect {
    .send(
      exchange.message,
      password: exchange.password,
      to: exchange.destination,
      from: exchange.base
    )
  }
}
