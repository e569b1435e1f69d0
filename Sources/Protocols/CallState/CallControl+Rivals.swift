/// Calls that the system asked to hold in favour of others, and the outcome.
struct AskedToHold: Equatable, Sendable {
  /// For each call that was asked to hold, the call in whose favour it was.
  var makers: [CallID: CallID] = [:]
  /// Calls that were asked to hold in favour of a call that the user has since given up.
  var givenUp: Set<CallID> = []
  /// Calls that did not hold when they were asked to.
  var unheld: Set<CallID> = []
  /// Calls that were asked to hold since their audio could not be activated.
  var soundless: Set<CallID> = []

  /// Forgets a call that was held or resumed, or is over.
  mutating func forget(_ id: CallID) {
    makers[id] = nil
    givenUp.remove(id)
    unheld.remove(id)
    soundless.remove(id)
  }
}

/// Exclusion of calls: at most one call, or one group, is active at a time (R69).
///
/// A *rival* of an action is an audible call that must fall silent before the action takes effect.
/// Rivals are asked to hold, or to end where they cannot, when the action is accepted; and the
/// effect of the action waits for them. Every wait ends: a hold has 5 s, and a rival that did not
/// hold is ended (R77).
extension CallControl {
  // MARK: Groups

  /// The newest valid provider that has a delegate, else the newest valid one (R33).
  var providerForStarts: Provider? {
    providers.last(where: \.hasDelegate) ?? providers.last
  }

  func members(of group: GroupID?) -> [Call] {
    guard let group else { return [] }
    return calls.filter { $0.group == group }
  }

  /// Returns the number of a provider's calls and groups; a group counts once (R80).
  func groupCount(of provider: ProviderID, without ended: Set<CallID> = []) -> Int {
    let mine = calls.filter { $0.provider == provider && !ended.contains($0.id) }
    return mine.count { $0.group == nil } + Set(mine.compactMap(\.group)).count
  }

  mutating func regroup(_ id: CallID, with other: CallID?, at now: Moment) {
    guard let call = calls.first(where: { $0.id == id }) else { return }
    let former = call.group
    guard let other else {
      update(id) { $0.group = nil }
      if let former { dissolveIfSingle(former) }
      return
    }
    guard let partner = calls.first(where: { $0.id == other }) else { return }
    guard partner.group == nil || partner.group != former else { return }
    let group = partner.group ?? GroupID(rawValue: nextGroupNumber)
    if partner.group == nil { nextGroupNumber += 1 }
    update(other) { $0.group = group }
    update(id) { $0.group = group }
    if let former { dissolveIfSingle(former) }
    resumeHeldMembers(of: group, at: now)
  }

  mutating func dissolveIfSingle(_ group: GroupID) {
    let members = members(of: group)
    guard members.count == 1 else { return }
    update(members[0].id) { $0.group = nil }
  }

  // A group is audible as a whole: once one member is, the held ones are resumed.
  private mutating func resumeHeldMembers(of group: GroupID, at now: Moment) {
    let members = members(of: group)
    guard members.contains(where: \.isActive) else { return }
    resume(members.filter(\.isOnHold), at: now)
  }

  /// Extends a hold or resume of a grouped call to every member of its group (R80).
  mutating func holdWholeGroups(of requests: [CheckedRequest], at now: Moment) {
    var others: [CheckedRequest] = []
    for request in requests {
      guard case .setHeld(let isOnHold) = request.kind,
        let group = calls.first(where: { $0.id == request.call })?.group
      else { continue }
      for member in members(of: group)
      where member.isOnHold != isOnHold
        && !(requests + others).contains(where: { Self.settlesHold($0.kind, $0.call, member.id) })
        && !pendingActions.contains(where: { $0.call == member.id && $0.kind == request.kind })
      {
        others.append(.init(call: member.id, provider: member.provider, kind: request.kind))
      }
    }
    if !others.isEmpty { deliver(others, origin: .system, at: now) }
  }

  private static func settlesHold(_ kind: ActionKind, _ call: CallID, _ member: CallID) -> Bool {
    guard call == member else { return false }
    if case .setHeld = kind { return true }
    return kind == .end
  }

  // MARK: Making way

  /// Asks the active calls to hold, or else to end, before those of `requests` become active (R70,
  /// R73).
  mutating func makeWay(for requests: [CheckedRequest], at now: Moment) {
    // A call that is being resumed is about to be active.
    let resumed = Set(ledger.outstanding.filter { $0.kind == .setHeld(false) }.map(\.call))
    let active = calls.filter { $0.isActive || resumed.contains($0.id) }
    for request in requests {
      for rival in rivals(of: request.call, request.kind, among: active) {
        guard !requests.contains(where: { Self.silences($0.kind, $0.call, rival.id) }),
          !pendingActions.contains(where: { Self.silences($0.kind, $0.call, rival.id) })
        else { continue }
        let kind: ActionKind = canBeHeld(rival, for: request) ? .setHeld(true) : .end
        if kind == .setHeld(true) { askedToHold.makers[rival.id] = request.call }
        deliver(
          [.init(call: rival.id, provider: rival.provider, kind: kind)],
          origin: .system,
          at: now
        )
      }
    }
  }

  /// True if the call supports holding and the limit of groups allows it to be held (R72).
  func canBeHeld(_ rival: Call, for request: CheckedRequest) -> Bool {
    guard rival.details.supportsHolding else { return false }
    guard rival.provider == request.provider, request.kind == .answer else { return true }
    let limit = providers.first { $0.id == rival.provider }?.settings.maximumCallGroups ?? 0
    // Others that ring are no calls yet.
    let ringing = calls.filter { $0.phase == .ringing && $0.id != request.call }
    return groupCount(of: rival.provider, without: Set(ringing.map(\.id))) <= limit
  }

  static func silences(_ kind: ActionKind, _ call: CallID, _ rival: CallID) -> Bool {
    call == rival && (kind == .setHeld(true) || kind == .end)
  }

  /// Returns the calls among `others` that cannot be active beside the call once the action takes
  /// effect.
  private func rivals(of id: CallID, _ kind: ActionKind, among others: [Call]) -> [Call] {
    let call = calls.first { $0.id == id }
    switch kind {
    case .start where call?.isOnHold == true, .answer where call?.isOnHold == true:
      // It was held meanwhile: it will not be active.
      return []
    case _ where kind.opensAudio:
      return others.filter { $0.id != id && ($0.group == nil || $0.group != call?.group) }
    case .setGroup(let partner?):
      let group = calls.first { $0.id == partner }?.group
      let team = Set(members(of: group).map(\.id) + [id, partner])
      guard others.contains(where: { team.contains($0.id) }) else { return [] }
      return others.filter { !team.contains($0.id) }
    case .setGroup(nil):
      guard others.contains(where: { $0.id == id }), call?.group != nil else { return [] }
      return others.filter { $0.id != id }
    default:
      return []
    }
  }

  func isGated(_ action: CallAction, _ outcome: ActionOutcome) -> Bool {
    outcome == .fulfilled && !audibleRivals(of: action).isEmpty
  }

  private func audibleRivals(of action: CallAction) -> [Call] {
    rivals(of: action.call, action.kind, among: calls.filter(\.isAudible))
  }

  /// Asks an audible rival of a fulfilled action to hold, or to end if it cannot or did not hold
  /// (R77).
  ///
  /// Returns true if a call was asked.
  mutating func clearTheWay(at now: Moment) -> Bool {
    for action in ledger.fulfilled {
      for rival in audibleRivals(of: action)
      where !ledger.outstanding.contains(where: { Self.silences($0.kind, $0.call, rival.id) }) {
        if rival.details.supportsHolding, !askedToHold.unheld.contains(rival.id) {
          askedToHold.makers[rival.id] = action.call
          deliver(
            [.init(call: rival.id, provider: rival.provider, kind: .setHeld(true))],
            origin: .system,
            at: now
          )
        } else {
          deliverEnd(rival.id, at: now)
        }
        return true
      }
    }
    return false
  }

  // MARK: Resuming

  /// Notes that the user gave up a call: those being held in its favour are resumed once they are
  /// held (R75).
  mutating func noteGivenUp(_ id: CallID) {
    for (held, maker) in askedToHold.makers where maker == id { askedToHold.givenUp.insert(held) }
  }

  /// Notes that a call was held or resumed.
  mutating func noteHold(of id: CallID, isOnHold: Bool, at now: Moment) {
    let isGivenUp = askedToHold.givenUp.contains(id)
    askedToHold.forget(id)
    if !isOnHold { heldForOtherPrograms.remove(id) }
    if isGivenUp, isOnHold { resumeLatestHeld(at: now) }
  }

  /// Notes that a call did not hold when the system asked it to.
  mutating func noteRefusedHold(of id: CallID) {
    askedToHold.forget(id)
    askedToHold.unheld.insert(id)
  }

  /// Resumes the latest held call with its group, or else lets another program resume its own
  /// (R75); does nothing if a call is active or about to be.
  ///
  /// With a set of calls, only calls of the set are resumed.
  mutating func resumeLatestHeld(among those: Set<CallID>? = nil, at now: Moment) {
    let ending = Set(ledger.outstanding.filter { $0.kind == .end }.map(\.call))
    let held = calls.filter { call in
      call.isOnHold && !ending.contains(call.id) && those?.contains(call.id) != false
    }
    guard !calls.contains(where: \.isActive),
      !ledger.outstanding.contains(where: \.kind.opensAudio)
    else { return }
    guard let latest = held.max(by: { $0.holdNumber < $1.holdNumber }) else {
      return effects.append(.giveBack)
    }
    let group = held.filter { $0.group == latest.group && latest.group != nil }
    resume(group.isEmpty ? [latest] : group, at: now)
  }

  private mutating func resume(_ held: [Call], at now: Moment) {
    let requests = held.filter { call in
      !pendingActions.contains { $0.call == call.id && $0.kind == .setHeld(false) }
    }.map { CheckedRequest(call: $0.id, provider: $0.provider, kind: .setHeld(false)) }
    if !requests.isEmpty { deliver(requests, origin: .system, at: now) }
  }
}
