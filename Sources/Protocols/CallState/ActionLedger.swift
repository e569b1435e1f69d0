import MediaCore

/// Delivered actions that have not taken effect, and every transition of one.
///
/// | State | Event | New state |
/// |---|---|---|
/// | – | accepted | pending |
/// | pending | fulfilled, failed, timed out | answered, once |
/// | pending | its call ended, superseded | gone, as voided |
/// | answered | those before it answered, no conflicting call audible | gone, in effect |
///
/// Answers count once and in any order; effects come in the order of the transaction (R3, R6, R23).
struct ActionLedger: Sendable {
  private struct Entry: Sendable {
    let action: CallAction
    var answer: Answer?
    var isGone = false
  }

  /// Answer to an action, by the app or by its time-out.
  struct Answer: Equatable, Sendable {
    let outcome: ActionOutcome
    /// Date that the app gave, or else the time of the answer.
    let date: CallDate
  }

  private struct Transaction: Sendable {
    var entries: [Entry]
    var isDone: Bool { entries.allSatisfy(\.isGone) }
  }

  private var transactions: [Transaction] = []
  private var nextNumber = 1

  /// Actions that are not answered, in order of delivery.
  var pending: [CallAction] {
    transactions.flatMap { $0.entries.filter { $0.answer == nil && !$0.isGone }.map(\.action) }
  }

  /// Actions that have not taken effect, answered or not.
  var outstanding: [CallAction] {
    transactions.flatMap { $0.entries.filter { !$0.isGone }.map(\.action) }
  }

  /// Actions that were fulfilled but have not taken effect.
  var fulfilled: [CallAction] {
    transactions.flatMap {
      $0.entries.filter { $0.answer?.outcome == .fulfilled && !$0.isGone }.map(\.action)
    }
  }

  /// Adds the actions of one transaction, and returns them.
  mutating func open(
    _ requests: [(call: CallID, kind: ActionKind)],
    of provider: ProviderID,
    origin: ActionOrigin,
    at now: MonotonicInstant
  ) -> [CallAction] {
    let actions = requests.map { request in
      defer { nextNumber += 1 }
      return CallAction(
        id: ActionID(rawValue: nextNumber),
        call: request.call,
        provider: provider,
        kind: request.kind,
        origin: origin,
        deadline: now.advanced(by: request.kind.timeout)
      )
    }
    transactions.append(Transaction(entries: actions.map { Entry(action: $0) }))
    return actions
  }

  /// Records an answer and returns its action; nil if the action is not pending.
  mutating func answer(_ id: ActionID, _ answer: Answer) -> CallAction? {
    change { entry in
      guard entry.action.id == id, entry.answer == nil else { return false }
      entry.answer = answer
      return true
    }.first
  }

  /// Drops the actions that `isVoided` selects, unanswered or still without effect.
  ///
  /// Returns those that were unanswered.
  mutating func void(where isVoided: (CallAction) -> Bool) -> [CallAction] {
    var voided: [CallAction] = []
    _ = change { entry in
      guard isVoided(entry.action) else { return false }
      if entry.answer == nil { voided.append(entry.action) }
      entry.isGone = true
      return true
    }
    return voided
  }

  /// Removes and returns the next answered action whose effect is due; nil if there is none.
  ///
  /// Actions that `isGated` holds back are skipped.
  mutating func nextDue(
    isGated: (CallAction, ActionOutcome) -> Bool
  ) -> (action: CallAction, answer: Answer)? {
    for transaction in transactions.indices {
      for index in transactions[transaction].entries.indices {
        let entry = transactions[transaction].entries[index]
        if entry.isGone { continue }
        guard let answer = entry.answer else { break }
        if isGated(entry.action, answer.outcome) { continue }
        transactions[transaction].entries[index].isGone = true
        transactions.removeAll(where: \.isDone)
        return (entry.action, answer)
      }
    }
    return nil
  }

  private mutating func change(_ body: (inout Entry) -> Bool) -> [CallAction] {
    var changed: [CallAction] = []
    for transaction in transactions.indices {
      for index in transactions[transaction].entries.indices
      where !transactions[transaction].entries[index].isGone {
        if body(&transactions[transaction].entries[index]) {
          changed.append(transactions[transaction].entries[index].action)
        }
      }
    }
    transactions.removeAll(where: \.isDone)
    return changed
  }
}
