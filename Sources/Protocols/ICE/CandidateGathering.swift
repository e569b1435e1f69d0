import MediaCore
import NetworkAddress

/// Collection of the addresses of an agent's side (RFC 8445 section 5.1.1).
extension ICEAgent {
  /// Time for servers to answer, in nanoseconds.
  private static let patience: Int64 = 2_000_000_000
  /// Interval at which servers are asked again, in nanoseconds: the strictest routers forget a port
  /// after half a minute of silence.
  private static let refreshPause: Int64 = 15_000_000_000

  mutating func gather(at now: MonotonicInstant) -> [Effect] {
    exchanges.removeAll { $0.purpose == .gathering }
    candidates = hosts.enumerated().map { ICECandidate(.host, $1, rank: $0) }
    (isRelayAwaited, isRelayLate) = (hasRelay, false)
    phase = .gathering(until: now.advanced(byNanoseconds: Self.patience))
    let questions = servers.map { ask($0, at: now) }
    return questions + endGathering(at: now)
  }

  private mutating func ask(_ server: SocketAddress, at now: MonotonicInstant) -> Effect {
    let exchange = Exchange(
      message: BindingMessage(.request, transaction: newTransaction()),
      purpose: .gathering,
      password: nil,
      destination: server,
      base: .socket,
      isRepeated: true,
      sentAt: now,
      nextAt: now.advanced(byNanoseconds: Self.firstPause),
      pause: Self.firstPause * 3 / 2
    )
    exchanges.append(exchange)
    return sending(exchange)
  }

  mutating func gathered(
    _ response: BindingMessage,
    _ exchange: Exchange,
    at now: MonotonicInstant
  ) -> [Effect] {
    // One that this side is seen at without a translation is known already.
    if response.kind == .success, let mapped = response.mapped,
      !candidates.contains(where: { $0.address == mapped }), case .gathering = phase
    {
      let rank = servers.firstIndex(of: exchange.destination) ?? 0
      candidates.append(
        ICECandidate(.serverReflexive, mapped, rank: rank, related: hosts.first)
      )
    }
    return endGathering(at: now)
  }

  mutating func addRelay(_ address: SocketAddress, at now: MonotonicInstant) -> [Effect] {
    isRelayAwaited = false
    guard !candidates.contains(where: { $0.address == address }) else { return [] }
    candidates.append(ICECandidate(.relayed, address, related: hosts.first))
    switch phase {
    case .gathering: return endGathering(at: now)
    case .gathered: isRelayLate = true
    case .checking:
      isRelayLate = true
      guard let remote else { break }
      pair(withAllOf: remote, at: now)
      return check(at: now)
    case .idle, .connected, .failed: break
    }
    return []
  }

  /// Offers a relayed address that came after this side's description, unless a check has
  /// succeeded without it.
  ///
  /// A description of one side may gain candidates (RFC 8839 section 4.4.1.2.1).
  mutating func offerLateRelay(at now: MonotonicInstant) -> [Effect] {
    guard let due = lateOfferAt, now >= due else { return [] }
    isRelayLate = false
    phase = .checking(until: now.advanced(byNanoseconds: patience))
    return [.gathered]
  }

  /// Time to offer an address of a relay that came late; nil if there is none.
  var lateOfferAt: MonotonicInstant? {
    guard isRelayLate, case .checking = phase, firstValidAt == nil else { return nil }
    return firstChecksUntil
  }

  // Nothing is waited for any more, or for too long.
  mutating func endGathering(at now: MonotonicInstant) -> [Effect] {
    guard case .gathering(let end) = phase else { return [] }
    let isComplete = !isRelayAwaited && !exchanges.contains { $0.purpose == .gathering }
    guard isComplete || now >= end else { return [] }
    phase = .gathered
    exchanges.removeAll { $0.purpose == .gathering }
    refreshAt = servers.isEmpty ? nil : now.advanced(byNanoseconds: Self.refreshPause)
    return [.gathered]
  }

  mutating func refresh(at now: MonotonicInstant) -> [Effect] {
    guard let due = refreshAt, now >= due else { return [] }
    refreshAt = now.advanced(byNanoseconds: Self.refreshPause)
    return servers.map { ask($0, at: now) }
  }
}
