import MediaCore
import NetworkAddress

/// Choice of the voice's path (RFC 8445 section 8), and checks of the far side's consent to receive
/// (RFC 7675).
extension ICEAgent {
  var best: CandidatePair? { pairs.first { $0.state == .succeeded } }

  // When the best pair is taken that works, though a better one may still come; nil if nothing is
  // to be chosen.
  var graceEnd: MonotonicInstant? {
    guard role == .controlling, let best, let firstValidAt, isOpen else { return nil }
    let isDirect = best.base == .socket && best.remote.kind != .relayed
    let grace = isDirect ? Self.directGrace : Self.relayGrace
    return firstValidAt.advanced(
      byNanoseconds: grace.nanoseconds + grace.roundTrips * firstRoundTrip
    )
  }

  // True while no pair is chosen or being chosen.
  var isOpen: Bool {
    guard case .checking = phase else { return false }
    return !exchanges.contains { $0.purpose == .nomination }
      && !pairs.contains { $0.isNominated && $0.state == .succeeded }
  }

  mutating func nominate(at now: MonotonicInstant) -> [Effect] {
    guard role == .controlling, isOpen, let best, let graceEnd else { return [] }
    let isBetterPending = pairs.contains { $0.priority > best.priority && $0.isPending }
    guard !isBetterPending || now >= graceEnd else { return [] }
    return [request(.nomination, on: best, at: now)]
  }

  // Of several that the far side has nominated the best one counts (RFC 5245 section 8.1.1.2).
  mutating func select(at now: MonotonicInstant) -> [Effect] {
    guard let chosen = pairs.first(where: { $0.isNominated && $0.state == .succeeded }) else {
      return []
    }
    return take(chosen, at: now)
  }

  mutating func take(_ pair: CandidatePair, at now: MonotonicInstant) -> [Effect] {
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

  mutating func keepConsent(at now: MonotonicInstant) -> [Effect] {
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
    // The far side is elsewhere now, and has been heard from there: the next response selects it.
    if let live, let latest = live.answeredAt, let before = chosen?.answeredAt,
      latest.nanoseconds(since: before) > Self.staleNanoseconds
    {
      for index in pairs.indices {
        pairs[index].isNominated = pairs[index].isFor(live.base, live.remote.address)
      }
    }
    for pair in [chosen, live].compactMap({ $0 }) {
      let isAsked = exchanges.contains { pair.isFor($0.base, $0.destination) }
      if !isAsked { effects.append(request(.consent, on: pair, at: now)) }
    }
    return effects
  }

  mutating func consentPause() -> Int64 {
    Int64.random(in: Self.consentPause * 4 / 5...Self.consentPause * 6 / 5, using: &generator)
  }
}
