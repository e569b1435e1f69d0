package import MediaCore

/// All calls of all providers and the rules between them, as a pure value with explicit time.
///
/// Every verb may leave effects; take them with `nextEffect` until nil, in order, after each verb.
/// `nextDeadline` is the time at which `advance` has to be called. Nothing here reads a clock,
/// starts a timer or does I/O. R numbers are our numbering of CallKit's behaviour
/// (`Documentation/CallKitRules.md`).
///
/// The transitions of a call are in `Call`, those of an action in `ActionLedger`; the exclusion of
/// calls (one is active at a time) is in `CallControl+Rivals`. Verbs, by caller:
///
/// - the shell: `addProvider`, `configure`, `setHasDelegate`, `reset`, `advance`, `audioActivated`,
///   `audioActivationFailed`; for other programs: `makeWayForOtherProgram`,
///   `takeBackFromOtherProgram`
/// - an app: transactions by `request`; answers to actions by `answer`; reports by
///   `reportIncoming`, `update`, `reportConnecting`, `reportConnected`, `reportEnded`; and
///   `setRemark`, `invalidate`
/// - the user: `decide`
///
/// The audio session belongs to the provider whose call is audible: it is activated when one
/// becomes so, and deactivated when none is (R88, R90; `AudioOwnership`).
package struct CallControl: Sendable {
  /// An effect that the shell has to carry out.
  package enum Effect: Equatable, Sendable {
    /// Deliver the actions of one transaction to their provider.
    case deliver([CallAction])
    /// Notify the provider that it did not answer the action in time.
    case timedOut(CallAction)
    /// Forget the action, which has ended with this outcome.
    case finished(CallAction, ActionOutcome)
    /// Notify the observers of a changed call.
    case callChanged(CallSnapshot)
    /// Activate the audio session, and report `audioActivated` or `audioActivationFailed`.
    case activateAudio(ProviderID)
    /// Deactivate the audio session, then notify the provider; nil if none knows of the activation.
    case deactivateAudio(ProviderID?, DeviceRelease)
    /// Notify the provider that the session is active.
    case audioActivated(ProviderID)
    /// Notify the provider that every call is void.
    case didReset(ProviderID)
    /// Let another program resume the call that it held for a call of this program (R75).
    case giveBack
    /// A call is over and belongs into the list of recent calls.
    case recorded(CallRecord)
  }

  /// Time at which the devices are released after a deactivation (R91).
  package enum DeviceRelease: Equatable, Sendable {
    /// At once: no call needs them.
    case atOnce
    /// After a grace time: another call may need them.
    case afterGraceTime
  }

  struct Provider: Sendable {
    let id: ProviderID
    var settings: ProviderSettings
    var hasDelegate = false
  }

  /// Ownership of the audio session.
  package internal(set) var audio = AudioOwnership.inactive

  var providers: [Provider] = []
  var calls: [Call] = []
  var ledger = ActionLedger()
  var effects: [Effect] = []
  private var nextProviderNumber = 1
  var nextGroupNumber = 1
  private var nextHoldNumber = 1
  var askedToHold = AskedToHold()
  /// Calls that are held, or being held, for a call of another program.
  var heldForOtherPrograms: Set<CallID> = []
  /// True while a call of another program is active; answering a call of this program holds it
  /// (R70).
  ///
  /// Set by the shell.
  package var isBusyElsewhere = false

  /// Creates a control without providers and calls.
  package init() {}

  // MARK: Queries

  /// Calls that are not over, oldest first, from the observers' point of view.
  package var snapshots: [CallSnapshot] { calls.map(\.snapshot) }

  /// Actions that no app has answered, in order of delivery.
  package var pendingActions: [CallAction] { ledger.pending }

  /// Time at which `advance` has to be called next; nil if nothing is awaited.
  package var nextDeadline: MonotonicInstant? {
    (pendingActions.map(\.deadline) + calls.compactMap(\.ringDeadline)).min()
  }

  /// True while a call is on hold and none is active: no app may activate the session (R76).
  package var isSessionWithheld: Bool {
    !calls.isEmpty && calls.contains(where: \.isOnHold) && !calls.contains(where: \.isActive)
  }

  /// True while `nextEffect` has an effect to return; for tests.
  package var hasEffects: Bool { !effects.isEmpty }

  /// Removes and returns the next effect; nil if there is none.
  package mutating func nextEffect() -> Effect? {
    effects.isEmpty ? nil : effects.removeFirst()
  }

  // MARK: Providers

  /// Adds a provider, which is then the newest.
  package mutating func addProvider(_ settings: ProviderSettings) -> ProviderID {
    defer { nextProviderNumber += 1 }
    let id = ProviderID(rawValue: nextProviderNumber)
    providers.append(Provider(id: id, settings: settings))
    return id
  }

  /// Replaces the settings of a provider (R29).
  package mutating func configure(_ id: ProviderID, _ settings: ProviderSettings) {
    guard let index = providers.firstIndex(where: { $0.id == id }) else { return }
    providers[index].settings = settings
  }

  /// Sets whether a provider has a delegate to perform its actions.
  package mutating func setHasDelegate(_ id: ProviderID, _ hasDelegate: Bool) {
    guard let index = providers.firstIndex(where: { $0.id == id }) else { return }
    providers[index].hasDelegate = hasDelegate
  }

  /// Removes a provider: its calls end as failed, and its later requests and reports are refused
  /// (R30).
  package mutating func invalidate(_ id: ProviderID, at now: Moment) {
    for call in calls where call.provider == id { end(call.id, .reported(.failed), at: now.date) }
    updateAudio()
    applyDue(at: now)
    providers.removeAll { $0.id == id }
  }

  /// Voids every call and pending action of every provider, since the system lost its state (R32).
  package mutating func reset(at now: Moment) {
    for call in calls { end(call.id, .reported(.failed), at: now.date) }
    for provider in providers { effects.append(.didReset(provider.id)) }
    updateAudio()
  }

  // MARK: Wishes

  /// Accepts or refuses an app's transaction as a whole (R20).
  ///
  /// Accepted actions are delivered in order, after the actions that hold or end other calls for
  /// them. Calls start with the provider `starter`, or, if that is nil, with the newest (R33).
  /// Returns the actions, in the order of the requests.
  package mutating func request(
    _ requests: [ActionRequest],
    startingWith starter: ProviderID? = nil,
    at now: Moment
  ) throws(TransactionRefusal) -> [CallAction] {
    try request(requests, startingWith: starter, origin: .app, at: now)
  }

  mutating func request(
    _ requests: [ActionRequest],
    startingWith starter: ProviderID? = nil,
    origin: ActionOrigin,
    at now: Moment
  ) throws(TransactionRefusal) -> [CallAction] {
    let checked = try TransactionCheck(self).accept(requests, startingWith: starter)
    makeWay(for: checked, at: now)
    let actions = deliver(checked, origin: origin, at: now)
    holdWholeGroups(of: checked, at: now)
    applyDue(at: now)
    return actions
  }

  /// Delivers actions, in one transaction for each provider; returns them in order.
  @discardableResult
  mutating func deliver(
    _ requests: [CheckedRequest],
    origin: ActionOrigin,
    at now: Moment
  ) -> [CallAction] {
    var providers: [ProviderID] = []
    for request in requests where !providers.contains(request.provider) {
      providers.append(request.provider)
    }
    let transactions = providers.map { provider in
      ledger.open(
        requests.filter { $0.provider == provider }.map { ($0.call, $0.kind) },
        of: provider,
        origin: origin,
        at: now.instant
      )
    }
    for action in transactions.joined() { appear(action, at: now) }
    for actions in transactions { effects.append(.deliver(actions)) }
    for action in transactions.joined() {
      switch action.kind {
      case .end:
        supersede(action)
      case .setHeld(true) where origin == .system:
        // It is not to be active after all.
        void { earlier in
          earlier.call == action.call && earlier.kind == .setHeld(false)
            && earlier.id.rawValue < action.id.rawValue
        }
      default:
        break
      }
    }
    var queues = transactions.map { ArraySlice($0) }
    return requests.compactMap { request in
      providers.firstIndex(of: request.provider).flatMap { queues[$0].popFirst() }
    }
  }

  // What acceptance alone changes: calls appear (R54), and are being answered.
  private mutating func appear(_ action: CallAction, at now: Moment) {
    switch action.kind {
    case .start(let request):
      var details = CallDetails()
      details.remoteHandle = request.handle
      details.contactIdentifier = request.contactIdentifier
      details.hasVideo = request.isVideo
      let call = Call(
        outgoing: action.call,
        provider: action.provider,
        details: details,
        at: now.date
      )
      calls.append(call)
      effects.append(.callChanged(call.snapshot))
    case .answer:
      update(action.call) { $0.answerDelivered() }
    default:
      break
    }
  }

  // An end stops the ringing, and a start or answer is no longer awaited (R67).
  private mutating func supersede(_ end: CallAction) {
    update(end.call) { $0.endDelivered() }
    void { $0.call == end.call && ($0.kind.isStart || $0.kind == .answer) }
  }

  // MARK: Answers

  /// Records the app's answer to a delivered action; `date` is the one that the app gave, if any.
  ///
  /// Returns false, and changes nothing, if the action is not pending: answered before, timed out
  /// or voided (R5, R6).
  @discardableResult
  package mutating func answer(
    _ action: ActionID,
    isFulfilled: Bool,
    date: CallDate? = nil,
    at now: Moment
  ) -> Bool {
    settle(action, isFulfilled ? .fulfilled : .failed, date: date ?? now.date, at: now)
  }

  private mutating func settle(
    _ id: ActionID,
    _ outcome: ActionOutcome,
    date: CallDate,
    at now: Moment
  ) -> Bool {
    guard let action = ledger.answer(id, .init(outcome: outcome, date: date)) else { return false }
    effects.append(.finished(action, outcome))
    applyDue(at: now)
    return true
  }

  // Lets every answered action take effect whose turn it is, until none is left that may.
  mutating func applyDue(at now: Moment) {
    repeat {
      while let (action, answer) = ledger.nextDue(isGated: { [self] in isGated($0, $1) }) {
        apply(action, answer, at: now)
      }
    } while clearTheWay(at: now)
  }

  private mutating func apply(_ action: CallAction, _ answer: ActionLedger.Answer, at now: Moment) {
    let isFulfilled = answer.outcome == .fulfilled
    switch action.kind {
    case .start where isFulfilled:
      update(action.call) { $0.startFulfilled(at: answer.date) }
    case .start:
      end(action.call, .failedAction, at: now.date)
    case .answer where isFulfilled:
      update(action.call) { $0.answerFulfilled(at: answer.date) }
    case .answer:
      deliverEnd(action.call, at: now)
    case .end:
      let wasActive = calls.contains { $0.id == action.call && $0.isActive }
      end(action.call, .action(action.origin), at: answer.date)
      updateAudio()
      if action.origin != .system {
        if wasActive { resumeLatestHeld(at: now) }
        noteGivenUp(action.call)
      }
    case .setHeld(let isOnHold) where isFulfilled:
      let number = nextHoldNumber
      nextHoldNumber += 1
      update(action.call) { $0.setHeld(isOnHold, number: number) }
      updateAudio()
      noteHold(of: action.call, isOnHold: isOnHold, at: now)
    case .setHeld(true) where action.origin == .system:
      // No other call of this program waits, whose turn would end it (R77).
      let isForNoOther =
        askedToHold.soundless.contains(action.call) || heldForOtherPrograms.contains(action.call)
      noteRefusedHold(of: action.call)
      if isForNoOther { deliverEnd(action.call, at: now) }
    case .setMuted(let isMuted) where isFulfilled:
      update(action.call) { $0.setMuted(isMuted) }
    case .setGroup(let other) where isFulfilled:
      regroup(action.call, with: other, at: now)
    default:
      break
    }
    updateAudio()
  }

  // MARK: Facts from the network

  /// Adds an incoming call, which rings from now on (R35), unless it is filtered (R40).
  package mutating func reportIncoming(
    _ id: CallID,
    _ update: CallUpdate,
    of provider: ProviderID,
    screening: CallerScreening = CallerScreening(),
    at now: Moment
  ) throws(IncomingRefusal) {
    guard let owner = providers.first(where: { $0.id == provider }) else {
      throw .unknownCallProvider
    }
    guard !calls.contains(where: { $0.id == id }) else { throw .callUUIDAlreadyExists }
    guard !screening.isBlocked else { throw .filteredByBlockList }
    guard !screening.isSilenced else { throw .filteredByDoNotDisturb }
    var details = CallDetails()
    details.apply(update)
    details.directoryLabel = screening.label
    let call = Call(
      incoming: id,
      provider: provider,
      details: details,
      at: now.date,
      ringsUntil: now.instant.advanced(by: owner.settings.ringDuration)
    )
    for index in calls.indices where calls[index].phase == .ringing {
      calls[index].isRingtoneSilenced = true
    }
    calls.append(call)
    effects.append(.callChanged(call.snapshot))
  }

  /// Changes the details of a call (R49); ignored if there is no such call (R52).
  package mutating func update(_ id: CallID, _ change: CallUpdate, of provider: ProviderID) {
    update(owned: id, by: provider) { $0.details.apply(change) }
  }

  /// Notes that an outgoing call is connecting; ignored for other calls (R59).
  package mutating func reportConnecting(_ id: CallID, of provider: ProviderID, at date: CallDate) {
    update(owned: id, by: provider) { $0.progressed(to: .connecting, at: date) }
  }

  /// Notes that an outgoing call was answered; ignored for other calls (R56, R59).
  package mutating func reportConnected(_ id: CallID, of provider: ProviderID, at date: CallDate) {
    update(owned: id, by: provider) { $0.progressed(to: .connected, at: date) }
  }

  /// Ends a call, at `date` or, if nil, now (R48, R64, R66).
  ///
  /// No action is sent, and pending ones are voided.
  package mutating func reportEnded(
    _ id: CallID,
    of provider: ProviderID,
    reason: EndedReason,
    date: CallDate? = nil,
    at now: Moment
  ) {
    guard calls.contains(where: { $0.id == id && $0.provider == provider }) else { return }
    end(id, .reported(reason), at: date ?? now.date)
    updateAudio()
    applyDue(at: now)
  }

  // MARK: Time

  /// Advances the time: actions time out (R8), and unanswered calls stop ringing (R47).
  package mutating func advance(to now: Moment) {
    for action in pendingActions where action.deadline <= now.instant {
      // An earlier time-out of this turn may have voided it.
      guard pendingActions.contains(action) else { continue }
      effects.append(.timedOut(action))
      _ = settle(action.id, .timedOut, date: now.date, at: now)
    }
    for call in calls {
      guard let deadline = call.ringDeadline, deadline <= now.instant else { continue }
      deliverEnd(call.id, at: now)
    }
    applyDue(at: now)
  }

  // MARK: Parts

  mutating func void(where isVoided: (CallAction) -> Bool) {
    for action in ledger.void(where: isVoided) { effects.append(.finished(action, .voided)) }
  }

  private mutating func update(
    owned id: CallID,
    by provider: ProviderID,
    _ change: (inout Call) -> Void
  ) {
    guard calls.contains(where: { $0.id == id && $0.provider == provider }) else { return }
    update(id, change)
  }

  mutating func update(_ id: CallID, _ change: (inout Call) -> Void) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    let before = calls[index].snapshot
    change(&calls[index])
    let after = calls[index].snapshot
    if after != before { effects.append(.callChanged(after)) }
  }
}
