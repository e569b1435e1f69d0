/// A request that passed the checks, with its call and provider.
struct CheckedRequest: Equatable, Sendable {
  let call: CallID
  let provider: ProviderID
  let kind: ActionKind
}

/// Checks of a transaction, in their order (R20, R21).
///
/// Each action is checked against the calls as the actions before it would leave them.
struct TransactionCheck {
  private let control: CallControl
  private var started: [CallID: ProviderID] = [:]
  private var answered: Set<CallID> = []
  private var ended: Set<CallID> = []
  /// Pairs of calls to be grouped, by this transaction and by earlier ones not yet in effect.
  private var joined: [(call: CallID, other: CallID)]

  init(_ control: CallControl) {
    self.control = control
    joined = control.ledger.outstanding.compactMap { action in
      guard case .setGroup(let other?) = action.kind else { return nil }
      return (action.call, other)
    }
  }

  /// Returns the checked requests, or throws the refusal of the first that fails.
  ///
  /// Calls start with `starter`, or, if that is nil, with the newest provider.
  func accept(
    _ requests: [ActionRequest],
    startingWith starter: ProviderID? = nil
  ) throws(TransactionRefusal) -> [CheckedRequest] {
    guard !requests.isEmpty else { throw .emptyTransaction }
    let chosen =
      starter.map { id in control.providers.first { $0.id == id } } ?? control.providerForStarts
    guard let chosen else { throw .unknownCallProvider }
    var check = self
    var checked: [CheckedRequest] = []
    for request in requests {
      guard let call = request.call else { throw .invalidAction }
      let provider =
        request.kind.isStart
        ? try check.acceptStart(call, of: chosen)
        : try check.accept(request.kind, on: call)
      checked.append(CheckedRequest(call: call, provider: provider, kind: request.kind))
    }
    return checked
  }

  private mutating func acceptStart(
    _ id: CallID,
    of provider: CallControl.Provider
  ) throws(TransactionRefusal) -> ProviderID {
    guard !control.calls.contains(where: { $0.id == id }), started[id] == nil else {
      throw .callUUIDAlreadyExists
    }
    let groups = control.groupCount(of: provider.id, without: ended)
    guard groups + started.count < provider.settings.maximumCallGroups else {
      throw .maximumCallGroupsReached
    }
    started[id] = provider.id
    return provider.id
  }

  private mutating func accept(
    _ kind: ActionKind,
    on id: CallID
  ) throws(TransactionRefusal) -> ProviderID {
    guard !ended.contains(id) else { throw .unknownCallUUID }
    if let provider = started[id] {
      // The call does not exist yet: it can do what an outgoing call can.
      switch kind {
      case .answer, .setGroup, .unsupported: throw .invalidAction
      case .end: ended.insert(id)
      default: break
      }
      return provider
    }
    guard let call = control.calls.first(where: { $0.id == id }) else { throw .unknownCallUUID }
    guard try isAllowed(kind, on: call) else { throw .invalidAction }
    if kind == .answer { answered.insert(id) }
    if kind == .end { ended.insert(id) }
    if case .setGroup(let other?) = kind { joined.append((id, other)) }
    return call.provider
  }

  private func isAllowed(
    _ kind: ActionKind,
    on call: Call
  ) throws(TransactionRefusal) -> Bool {
    let isRinging = call.phase == .ringing && !answered.contains(call.id)
    switch kind {
    case .answer: return isRinging && !isEnding(call.id)
    case .end, .setMuted: return true
    case .setHeld(let isOnHold):
      // A group is held as a whole (R80).
      let concerned = [call] + control.members(of: call.group)
      return !isRinging && (!isOnHold || concerned.allSatisfy(\.details.supportsHolding))
    case .playDTMF: return !isRinging && call.details.supportsDTMF
    case .setGroup(let other?): return try mayJoin(call, other) && !isRinging
    case .setGroup(nil): return mayLeave(call)
    case .start, .unsupported: return false
    }
  }

  // Its end is delivered: an answer is no longer awaited (R67).
  private func isEnding(_ id: CallID) -> Bool {
    control.ledger.outstanding.contains { $0.call == id && $0.kind == .end }
  }

  private func mayJoin(_ call: Call, _ other: CallID) throws(TransactionRefusal) -> Bool {
    guard !ended.contains(other),
      let partner = control.calls.first(where: { $0.id == other }),
      let provider = control.providers.first(where: { $0.id == call.provider })
    else { throw .unknownCallUUID }
    let team = team(with: other)
    return partner.provider == call.provider && other != call.id
      && call.details.supportsGrouping && partner.details.supportsGrouping
      && partner.phase != .ringing
      && team.union([call.id]).count <= provider.settings.maximumCallsPerCallGroup
  }

  // Who will be grouped with a call, once all that was asked for before has taken effect.
  private func team(with id: CallID) -> Set<CallID> {
    var team: Set = [id]
    var before = 0
    while team.count > before {
      before = team.count
      for call in control.calls where team.contains(call.id) {
        team.formUnion(control.members(of: call.group).map(\.id))
      }
      for (call, other) in joined where team.contains(call) || team.contains(other) {
        team.formUnion([call, other])
      }
    }
    return team
  }

  // The others are held when one is talked to in private: they must be able to.
  private func mayLeave(_ call: Call) -> Bool {
    let others = control.members(of: call.group).filter { $0.id != call.id }
    return call.details.supportsUngrouping && others.allSatisfy(\.details.supportsHolding)
  }
}
