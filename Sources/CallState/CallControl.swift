public import MediaTime

/// All calls of one provider and the rules between them, as a pure value with explicit time.
///
/// Every verb may leave effects; take them with `nextEffect` until nil, in order, after each verb.
/// `nextDeadline` says when `advance` has to be called. Nothing here reads a clock, starts a timer
/// or does I/O. R numbers are our numbering of CallKit's
/// behaviour; each is a test of that name.
///
/// Transitions of a call:
///
/// | Phase | Event | New phase |
/// |---|---|---|
/// | – | start accepted | starting |
/// | – | incoming reported | ringing |
/// | starting | start fulfilled | started (or what was reported meanwhile); audible |
/// | starting | start failed or timed out | ended |
/// | started, connecting | connecting, connected reported | connecting, connected |
/// | ringing | answer delivered | answering |
/// | answering | answer fulfilled | connected; audible |
/// | answering | answer failed or timed out | answering, and an end is delivered |
/// | ringing | 60 s pass | ringing, and an end is delivered |
/// | any | end fulfilled, failed or timed out | ended |
/// | any | end reported, reset, invalidate | ended |
///
/// The audio session belongs to the calls that are audible: it is activated when the first becomes
/// so, and deactivated when the last ceases to be.
public struct CallControl: Sendable {
  /// What the shell has to do.
  public enum Effect: Equatable, Sendable {
    /// Deliver the action to the app.
    case perform(CallAction)
    /// Tell the app that it did not answer in time.
    case timedOut(CallAction)
    /// The action has ended and will never be heard of again.
    case finished(CallAction, ActionOutcome)
    /// Tell the observers.
    case callChanged(CallSnapshot)
    /// Activate the audio session, then tell the app.
    case activateAudio
    /// Deactivate the audio session, then tell the app.
    case deactivateAudio
    /// Tell the app that every call is void.
    case didReset
  }

  /// How long a call rings before it ends by itself (R47).
  public var ringTimeout: Duration = .seconds(60)
  /// How many calls there may be before a start is refused.
  public var maximumCallGroups = 2

  /// True while the audio session is to be active.
  public private(set) var isAudioActive = false
  /// True after `invalidate`.
  public private(set) var isInvalid = false

  private var calls: [Call] = []
  private var transactions: [Transaction] = []
  private var effects: [Effect] = []
  private var nextActionNumber = 1

  private struct Transaction: Sendable {
    struct Entry: Sendable {
      let action: CallAction
      var outcome: ActionOutcome?
      var isApplied = false
    }
    var entries: [Entry]
  }

  /// A control without calls.
  public init() {}

  /// A control without calls whose actions never bear a name that `former` gave.
  public init(numberingActionsAfter former: CallControl) {
    nextActionNumber = former.nextActionNumber
  }

  // MARK: Queries

  /// The calls that live, oldest first.
  public var snapshots: [CallSnapshot] { calls.map(\.snapshot) }

  /// The actions that the app has not answered, in order of delivery.
  public var pendingActions: [CallAction] {
    transactions.flatMap { $0.entries.filter { $0.outcome == nil }.map(\.action) }
  }

  /// When `advance` has to be called next, nil if there is nothing to wait for.
  public var nextDeadline: MonotonicInstant? {
    (pendingActions.map(\.deadline) + calls.compactMap(\.ringDeadline)).min()
  }

  /// Takes the next effect.
  public mutating func nextEffect() -> Effect? {
    effects.isEmpty ? nil : effects.removeFirst()
  }

  // MARK: Wishes of the app and the user

  /// Accepts or refuses a transaction as a whole (R20); accepted actions are delivered in order.
  ///
  /// Returns the actions, in the order of the requests.
  public mutating func request(
    _ requests: [ActionRequest],
    at now: MonotonicInstant
  ) throws(TransactionRefusal) -> [CallAction] {
    guard !requests.isEmpty else { throw .emptyTransaction }
    guard !isInvalid else { throw .unknownCallProvider }
    var started: Set<CallID> = []
    var ended: Set<CallID> = []
    for request in requests {
      guard !ended.contains(request.call) else { throw .unknownCallUUID }
      try check(request, alreadyStarting: started)
      if request.kind == .start { started.insert(request.call) }
      if request.kind == .end { ended.insert(request.call) }
    }
    endAudibleCalls(before: requests, at: now)
    let actions = deliver(requests, at: now)
    applyInOrder(at: now)
    return actions
  }

  private func check(
    _ request: ActionRequest,
    alreadyStarting started: Set<CallID>
  ) throws(TransactionRefusal) {
    let call = calls.first { $0.id == request.call }
    switch request.kind {
    case .start:
      guard call == nil, !started.contains(request.call) else { throw .callUUIDAlreadyExists }
      guard calls.count + started.count < maximumCallGroups else {
        throw .maximumCallGroupsReached
      }
    case .answer:
      guard let call else { throw .unknownCallUUID }
      guard call.phase == .ringing else { throw .invalidAction }
    case .end, .setMuted:
      guard call != nil else { throw .unknownCallUUID }
    }
  }

  // A call that cannot be held ends when another wants the hardware (R69, R73).
  private mutating func endAudibleCalls(before requests: [ActionRequest], at now: MonotonicInstant)
  {
    guard requests.contains(where: { $0.kind == .start || $0.kind == .answer }) else { return }
    let named = Set(requests.map(\.call))
    for call in calls where call.isAudible && !named.contains(call.id) {
      deliverEnd(call.id, at: now)
    }
  }

  private mutating func deliver(
    _ requests: [ActionRequest],
    at now: MonotonicInstant
  ) -> [CallAction] {
    let actions = requests.map { request in
      defer { nextActionNumber += 1 }
      return CallAction(
        id: ActionID(rawValue: nextActionNumber),
        call: request.call,
        kind: request.kind,
        deadline: now.advanced(by: request.kind.timeout)
      )
    }
    transactions.append(Transaction(entries: actions.map { .init(action: $0) }))
    for action in actions {
      prepare(action)
      effects.append(.perform(action))
    }
    return actions
  }

  // What acceptance alone changes: calls appear (R54), superseded actions go (R67).
  private mutating func prepare(_ action: CallAction) {
    switch action.kind {
    case .start:
      let call = Call(id: action.call, isOutgoing: true, phase: .starting)
      calls.append(call)
      effects.append(.callChanged(call.snapshot))
    case .answer:
      update(action.call) { call in
        call.phase = .answering
        call.ringDeadline = nil
      }
    case .end:
      update(action.call) { $0.ringDeadline = nil }
      voidActions { $0.call == action.call && $0.id != action.id }
    case .setMuted:
      break
    }
  }

  // MARK: Answers of the app

  /// Takes in the app's answer to a delivered action.
  ///
  /// Returns false, and changes nothing, if the action is not pending: answered before, timed out,
  /// voided (R5, R6).
  @discardableResult
  public mutating func answer(
    _ action: ActionID,
    isFulfilled: Bool,
    at now: MonotonicInstant
  ) -> Bool {
    settle(action, isFulfilled ? .fulfilled : .failed, at: now)
  }

  private mutating func settle(
    _ id: ActionID,
    _ outcome: ActionOutcome,
    at now: MonotonicInstant
  ) -> Bool {
    for transaction in transactions.indices {
      for entry in transactions[transaction].entries.indices {
        let found = transactions[transaction].entries[entry]
        guard found.action.id == id, found.outcome == nil else { continue }
        transactions[transaction].entries[entry].outcome = outcome
        effects.append(.finished(found.action, outcome))
        applyInOrder(at: now)
        return true
      }
    }
    return false
  }

  // An answered action takes effect once all before it in its transaction have (R23). Applying one
  // may void others and append transactions, but removes none: indices stay valid until the end.
  private mutating func applyInOrder(at now: MonotonicInstant) {
    var index = 0
    while index < transactions.count {
      var entry = 0
      while entry < transactions[index].entries.count,
        let outcome = transactions[index].entries[entry].outcome
      {
        if !transactions[index].entries[entry].isApplied {
          transactions[index].entries[entry].isApplied = true
          apply(transactions[index].entries[entry].action, outcome, at: now)
        }
        entry += 1
      }
      index += 1
    }
    transactions.removeAll { $0.entries.allSatisfy(\.isApplied) }
  }

  private mutating func apply(
    _ action: CallAction,
    _ outcome: ActionOutcome,
    at now: MonotonicInstant
  ) {
    switch (action.kind, outcome) {
    case (_, .voided):
      break
    case (.start, .fulfilled):
      update(action.call) { call in
        call.phase = call.reportedProgress ?? .started
        call.hasConnected = call.phase == .connected
        call.isAudible = true
      }
    case (.start, .failed), (.start, .timedOut):
      end(action.call)
    case (.answer, .fulfilled):
      update(action.call) { call in
        call.phase = .connected
        call.hasConnected = true
        call.isAudible = true
      }
    case (.answer, .failed), (.answer, .timedOut):
      deliverEnd(action.call, at: now)
    case (.end, .fulfilled), (.end, .failed), (.end, .timedOut):
      end(action.call)
    case (.setMuted(let isMuted), .fulfilled):
      update(action.call) { $0.isMuted = isMuted }
    case (.setMuted, .failed), (.setMuted, .timedOut):
      break
    }
    updateAudio()
  }

  // MARK: Facts from the network

  /// An incoming call rings from now on (R35).
  public mutating func reportIncoming(
    _ id: CallID,
    at now: MonotonicInstant
  ) throws(IncomingRefusal) {
    guard !isInvalid else { throw .unknownCallProvider }
    guard !calls.contains(where: { $0.id == id }) else { throw .callUUIDAlreadyExists }
    var call = Call(id: id, isOutgoing: false, phase: .ringing)
    call.ringDeadline = now.advanced(by: ringTimeout)
    calls.append(call)
    effects.append(.callChanged(call.snapshot))
  }

  /// An outgoing call found the far side; ignored for other calls (R59).
  public mutating func reportConnecting(_ id: CallID) {
    report(.connecting, of: id)
  }

  /// An outgoing call was taken; ignored for other calls (R56, R59).
  public mutating func reportConnected(_ id: CallID) {
    report(.connected, of: id)
  }

  private mutating func report(_ progress: CallPhase, of id: CallID) {
    update(id) { call in
      guard call.isOutgoing, !call.hasConnected else { return }
      guard call.phase != .starting else {
        if call.reportedProgress != .connected { call.reportedProgress = progress }
        return
      }
      call.phase = progress
      call.hasConnected = progress == .connected
    }
  }

  /// A call is over; no action is sent, and pending ones are voided (R48, R64, R66).
  public mutating func reportEnded(_ id: CallID, at now: MonotonicInstant) {
    guard calls.contains(where: { $0.id == id }) else { return }
    end(id)
    updateAudio()
    applyInOrder(at: now)
  }

  /// The audio session could not be activated: every audible call is asked to end.
  ///
  /// Nothing was activated, so nothing will be deactivated.
  public mutating func audioActivationFailed(at now: MonotonicInstant) {
    isAudioActive = false
    for index in calls.indices where calls[index].isAudible {
      calls[index].isAudible = false
      deliverEnd(calls[index].id, at: now)
    }
    applyInOrder(at: now)
  }

  // MARK: Time

  /// Lets time pass: actions time out (R8), unanswered calls stop ringing (R47).
  public mutating func advance(to now: MonotonicInstant) {
    for action in pendingActions where action.deadline <= now {
      // An earlier time-out of this turn may have voided it.
      guard pendingActions.contains(action) else { continue }
      effects.append(.timedOut(action))
      _ = settle(action.id, .timedOut, at: now)
    }
    for call in calls {
      guard let deadline = call.ringDeadline, deadline <= now else { continue }
      deliverEnd(call.id, at: now)
    }
    applyInOrder(at: now)
  }

  // MARK: The end of everything

  /// The system lost its state: every call and pending action is void (R32).
  public mutating func reset() {
    endAll()
    effects.append(.didReset)
    updateAudio()
  }

  /// The provider goes: its calls end, later requests and reports are refused (R30).
  public mutating func invalidate() {
    endAll()
    updateAudio()
    isInvalid = true
  }

  private mutating func endAll() {
    for call in calls { end(call.id) }
    transactions.removeAll()
  }

  // MARK: Parts

  private mutating func deliverEnd(_ id: CallID, at now: MonotonicInstant) {
    let isAsked = pendingActions.contains { $0.call == id && $0.kind == .end }
    guard calls.contains(where: { $0.id == id }), !isAsked else { return }
    _ = deliver([ActionRequest(call: id, kind: .end)], at: now)
  }

  private mutating func end(_ id: CallID) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    var call = calls.remove(at: index)
    call.phase = .ended
    voidActions { $0.call == id }
    effects.append(.callChanged(call.snapshot))
  }

  private mutating func voidActions(where isVoided: (CallAction) -> Bool) {
    for transaction in transactions.indices {
      for entry in transactions[transaction].entries.indices {
        let found = transactions[transaction].entries[entry]
        guard found.outcome == nil, isVoided(found.action) else { continue }
        transactions[transaction].entries[entry].outcome = .voided
        transactions[transaction].entries[entry].isApplied = true
        effects.append(.finished(found.action, .voided))
      }
    }
  }

  private mutating func update(_ id: CallID, _ change: (inout Call) -> Void) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    let before = calls[index].snapshot
    change(&calls[index])
    let after = calls[index].snapshot
    if after != before { effects.append(.callChanged(after)) }
  }

  // R88, R90, R92.
  private mutating func updateAudio() {
    let shouldBeActive = calls.contains { $0.isAudible }
    guard shouldBeActive != isAudioActive else { return }
    isAudioActive = shouldBeActive
    effects.append(shouldBeActive ? .activateAudio : .deactivateAudio)
  }
}
