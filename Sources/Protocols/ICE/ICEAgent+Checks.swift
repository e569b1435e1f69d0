import MediaCore
import NetworkAddress

/// Checks of pairs of addresses (RFC 8445 section 7).
extension ICEAgent {
  // MARK: Beginning

  mutating func begin(
    with description: ICEDescription,
    at now: MonotonicInstant
  ) -> [Effect] {
    // What arrives while addresses are collected answers an offer of before: another one follows.
    if case .gathering = phase { return [] }
    guard remote?.credentials != description.credentials else {
      return add(description, at: now)
    }
    if description.isLite { role = .controlling }
    remote = description
    pairs = []
    pair(withAllOf: description, at: now)
    phase = .checking(until: now.advanced(byNanoseconds: patience))
    firstChecksUntil = now.advanced(byNanoseconds: Self.firstChecksNanoseconds)
    // The answer that follows has all candidates.
    if role == .controlled { isRelayLate = false }
    let arrived = early
    early = []
    var effects: [Effect] = []
    for request in arrived {
      effects += answer(request.message, from: request.address, at: request.base, now)
    }
    return effects + check(at: now)
  }

  mutating func confirm(at now: MonotonicInstant) -> [Effect] {
    guard !isConfirmed else { return [] }
    isConfirmed = true
    if case .checking = phase { phase = .checking(until: now.advanced(byNanoseconds: patience)) }
    return []
  }

  /// Time at which the checks have failed; nil while there are none, or while the far side may not
  /// know of this side: a 2xx may be sent for half a minute before it arrives.
  ///
  /// A relay that has not answered yet has as much time again.
  var checksEnd: MonotonicInstant? {
    guard isConfirmed, case .checking(let end) = phase else { return nil }
    return isRelayAwaited ? end.advanced(byNanoseconds: patience) : end
  }

  // Candidates that the far side got late (RFC 8839 section 4.4.1.2.1).
  private mutating func add(
    _ description: ICEDescription,
    at now: MonotonicInstant
  ) -> [Effect] {
    guard let before = remote, case .checking = phase else { return [] }
    let known = Set(before.candidates.map(\.address))
    guard !known.isSuperset(of: description.candidates.map(\.address)) else { return [] }
    remote = description
    pair(withAllOf: description, at: now)
    phase = .checking(until: now.advanced(byNanoseconds: patience))
    return check(at: now)
  }

  /// Restarts the checks with other credentials; the voice keeps its path until there is another
  /// one.
  ///
  /// To be called before the description of a far side that has restarted is handled.
  package mutating func restart(with credentials: ICECredentials) {
    self.credentials = credentials
    // The answer that follows has all candidates.
    isRelayLate = false
    forgetChecks()
  }

  /// Stops the checks until the far side is described again.
  mutating func suspend() {
    forgetChecks()
    (remote, path) = (nil, nil)
    if case .gathering = phase { return }
    phase = .gathered
  }

  private mutating func forgetChecks() {
    exchanges.removeAll { $0.purpose != .gathering }
    (triggered, early, pairs) = ([], [], [])
    (nextCheckAt, firstValidAt, nextConsentAt, consentUntil) = (nil, nil, nil, nil)
  }

  /// True if a description comes from a far side that has restarted ICE (RFC 8445 section 9).
  package func isRestart(_ description: ICEDescription) -> Bool {
    remote.map { $0.credentials != description.credentials } ?? false
  }

  var bases: [ICEOutlet] {
    candidates.contains { $0.kind == .relayed } ? [.socket, .relay] : [.socket]
  }

  mutating func pair(with candidate: ICECandidate) {
    for base in bases where !pairs.contains(where: { $0.isFor(base, candidate.address) }) {
      guard family(of: base) == candidate.address.isIPv6 else { continue }
      add(CandidatePair(base, to: candidate, localPriority: priority(of: base), role))
    }
  }

  func priority(of base: ICEOutlet) -> UInt32 {
    candidate(of: base)?.priority ?? ICECandidate.priority(.peerReflexive)
  }

  func candidate(of base: ICEOutlet) -> ICECandidate? {
    candidates.first { $0.kind == (base == .relay ? .relayed : .host) }
  }

  // True for IPv6, nil for an address that is not there.
  func family(of base: ICEOutlet) -> Bool? { candidate(of: base)?.address.isIPv6 }

  mutating func add(_ pair: CandidatePair) {
    guard pairs.count < Self.pairLimit else { return }
    let place = pairs.firstIndex { $0.priority < pair.priority } ?? pairs.endIndex
    pairs.insert(pair, at: place)
  }

  mutating func pair(withAllOf description: ICEDescription, at now: MonotonicInstant) {
    for candidate in description.candidates.prefix(Self.candidateLimit) { pair(with: candidate) }
    nextCheckAt = nextCheckAt ?? now
  }

  // MARK: Messages

  mutating func receive(
    _ message: BindingMessage,
    from source: SocketAddress,
    at base: ICEOutlet,
    _ now: MonotonicInstant
  ) -> [Effect] {
    switch message.kind {
    case .indication: return []
    case .request: return answer(message, from: source, at: base, now)
    case .success, .failure: return conclude(with: message, from: source, at: base, now)
    }
  }

  // What is not signed gets no answer: it would help those who look for machines to misuse.
  mutating func answer(
    _ request: BindingMessage,
    from source: SocketAddress,
    at base: ICEOutlet,
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
    // One check for each request, whose source may be forged, and which is no smaller than that
    // with what RFC 8445 section 7.1 asks for.
    if request.priority != nil, request.role != nil { pairs[index].isOwedCheck = true }
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

  func isNamed(in request: BindingMessage) -> Bool {
    guard let parts = request.username?.split(separator: ":"), parts.count == 2 else {
      return false
    }
    return parts[0] == credentials.userFragment
      && (remote.map { parts[1] == $0.credentials.userFragment } ?? true)
  }

  // RFC 8445 section 7.3.1.1; the code to refuse a request with.
  mutating func settleRoles(_ request: BindingMessage) -> Int? {
    guard request.role == role else { return nil }
    guard (tiebreaker >= request.tiebreaker) == (role == .controlling) else {
      switchRole()
      return nil
    }
    return 487
  }

  mutating func switchRole() {
    role = role == .controlling ? .controlled : .controlling
    pairs = pairs.map {
      var pair = CandidatePair($0.base, to: $0.remote, localPriority: priority(of: $0.base), role)
      (pair.state, pair.localKind) = ($0.state, $0.localKind)
      (pair.isNominated, pair.answeredAt) = ($0.isNominated, $0.answeredAt)
      pair.isOwedCheck = $0.isOwedCheck
      return pair
    }
    pairs.sort { $0.priority > $1.priority }
  }

  func reply(
    _ kind: BindingMessage.Kind,
    to request: BindingMessage,
    _ source: SocketAddress,
    _ base: ICEOutlet
  ) -> Effect {
    var answer = BindingMessage(kind, transaction: request.transaction)
    answer.mapped = kind == .success ? source : nil
    return .send(answer, password: credentials.password, to: source, from: base)
  }

  mutating func conclude(
    with response: BindingMessage,
    from source: SocketAddress,
    at base: ICEOutlet,
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
    budget.noteAnswer(from: source.host)
    guard let index = pairs.firstIndex(where: { $0.isFor(base, source) }) else { return [] }
    guard response.kind == .success, let mapped = response.mapped else {
      return refused(index, response, exchange, at: now)
    }
    if firstValidAt == nil { firstRoundTrip = now.nanoseconds(since: exchange.sentAt) }
    succeed(index, seenAs: mapped, at: now)
    if exchange.purpose == .nomination { pairs[index].isNominated = true }
    return select(at: now) + check(at: now)
  }

  mutating func refused(
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

  mutating func succeed(
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

  // MARK: Requests

  mutating func newTransaction() -> [UInt8] {
    (0..<12).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  mutating func request(
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
      pause: Self.firstPause * 3 / 2
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
