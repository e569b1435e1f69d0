import MediaTime
import Testing

@testable import CallState

struct CallControlTests {
  static let alice = CallID(high: 1, low: 1)
  static let bob = CallID(high: 2, low: 2)
  let start = MonotonicInstant(nanoseconds: 0)

  private func drain(_ control: inout CallControl) -> [CallControl.Effect] {
    var effects: [CallControl.Effect] = []
    while let effect = control.nextEffect() { effects.append(effect) }
    return effects
  }

  private func audio(_ effects: [CallControl.Effect]) -> [CallControl.Effect] {
    effects.filter { $0 == .activateAudio || $0 == .deactivateAudio }
  }

  private func started() throws -> (CallControl, CallAction) {
    var control = CallControl()
    let actions = try control.request([.init(call: Self.alice, kind: .start)], at: start)
    _ = drain(&control)
    return (control, try #require(actions.first))
  }

  private func answering() throws -> (CallControl, CallAction) {
    var control = CallControl()
    try control.reportIncoming(Self.bob, at: start)
    let actions = try control.request([.init(call: Self.bob, kind: .answer)], at: start)
    _ = drain(&control)
    return (control, try #require(actions.first))
  }

  @Test func R35_incomingCallRingsAndObserversAreTold() throws {
    var control = CallControl()
    try control.reportIncoming(Self.bob, at: start)
    #expect(control.snapshots.map(\.phase) == [.ringing])
    #expect(drain(&control) == [.callChanged(control.snapshots[0])])
  }

  @Test func R38_secondReportOfTheSameCallIsRefused() throws {
    var control = CallControl()
    try control.reportIncoming(Self.bob, at: start)
    #expect(throws: IncomingRefusal.callUUIDAlreadyExists) {
      try control.reportIncoming(Self.bob, at: start)
    }
  }

  @Test func R88_sessionIsActivatedWhenTheStartIsFulfilledAndNotBefore() throws {
    var (control, action) = try started()
    #expect(!control.isAudioActive)
    control.answer(action.id, isFulfilled: true, at: start)
    #expect(audio(drain(&control)) == [.activateAudio])
  }

  @Test func R88_sessionIsActivatedWhenTheAnswerIsFulfilled() throws {
    var (control, action) = try answering()
    control.answer(action.id, isFulfilled: true, at: start)
    #expect(audio(drain(&control)) == [.activateAudio])
    #expect(control.snapshots.map(\.phase) == [.connected])
  }

  @Test func R10_failedStartEndsTheCallWithoutActivation() throws {
    var (control, action) = try started()
    control.answer(action.id, isFulfilled: false, at: start)
    #expect(audio(drain(&control)).isEmpty)
    #expect(control.snapshots.isEmpty)
  }

  @Test func R10_failedAnswerDeliversAnEndAction() throws {
    var (control, action) = try answering()
    control.answer(action.id, isFulfilled: false, at: start)
    let effects = drain(&control)
    #expect(audio(effects).isEmpty)
    #expect(control.pendingActions.map(\.kind) == [.end])
  }

  @Test func R8_unansweredAnswerTimesOutOnceAndIsEnded() throws {
    var (control, action) = try answering()
    let late = start.advanced(by: .seconds(60))
    control.advance(to: late)
    #expect(drain(&control).contains(.timedOut(action)))
    #expect(control.pendingActions.map(\.kind) == [.end])
    control.advance(to: late)
    #expect(!drain(&control).contains(.timedOut(action)))
  }

  @Test func R1_timeOutsAreTheOriginals() {
    #expect(ActionKind.start.timeout == .seconds(600))
    #expect(ActionKind.answer.timeout == .seconds(60))
    #expect(ActionKind.end.timeout == .seconds(5))
    #expect(ActionKind.setMuted(true).timeout == .seconds(5))
  }

  @Test func R6_secondAnswerIsIgnored() throws {
    var (control, action) = try started()
    let answered1 = control.answer(action.id, isFulfilled: true, at: start)
    #expect(answered1)
    _ = drain(&control)
    let answered2 = control.answer(action.id, isFulfilled: false, at: start)
    #expect(!answered2)
    #expect(drain(&control).isEmpty)
  }

  @Test func R47_ringingEndsAfterAMinute() throws {
    var control = CallControl()
    try control.reportIncoming(Self.bob, at: start)
    #expect(control.nextDeadline == start.advanced(by: .seconds(60)))
    control.advance(to: start.advanced(by: .seconds(60)))
    #expect(control.pendingActions.map(\.kind) == [.end])
  }

  @Test func R48_callerGivingUpSendsNoActionAndVoidsThePendingAnswer() throws {
    var (control, action) = try answering()
    control.reportEnded(Self.bob, at: start)
    let effects = drain(&control)
    #expect(effects.contains(.finished(action, .voided)))
    #expect(!effects.contains { if case .perform = $0 { true } else { false } })
    #expect(control.snapshots.isEmpty)
  }

  @Test func R54_outgoingCallIsVisibleFromItsAcceptance() throws {
    let (control, _) = try started()
    #expect(control.snapshots.map(\.isOutgoing) == [true])
    #expect(control.snapshots.map(\.hasConnected) == [false])
  }

  @Test func R56_progressBeforeTheFulfilmentIsAppliedThen() throws {
    var (control, action) = try started()
    control.reportConnected(Self.alice)
    #expect(control.snapshots.map(\.hasConnected) == [false])
    control.answer(action.id, isFulfilled: true, at: start)
    #expect(control.snapshots.map(\.hasConnected) == [true])
  }

  @Test func R59_progressOfAnIncomingCallIsIgnored() throws {
    var control = CallControl()
    try control.reportIncoming(Self.bob, at: start)
    control.reportConnected(Self.bob)
    #expect(control.snapshots.map(\.phase) == [.ringing])
  }

  @Test func R64_reportedEndCompletesAPendingEndActionSilently() throws {
    var (control, action) = try started()
    control.answer(action.id, isFulfilled: true, at: start)
    let end = try control.request([.init(call: Self.alice, kind: .end)], at: start)[0]
    _ = drain(&control)
    control.reportEnded(Self.alice, at: start)
    let effects = drain(&control)
    #expect(effects.contains(.finished(end, .voided)))
    #expect(audio(effects) == [.deactivateAudio])
  }

  @Test func R67_endSupersedesThePendingStart() throws {
    var (control, action) = try started()
    let end = try control.request([.init(call: Self.alice, kind: .end)], at: start)[0]
    #expect(drain(&control).contains(.finished(action, .voided)))
    let answered3 = control.answer(action.id, isFulfilled: true, at: start)
    #expect(!answered3)
    control.answer(end.id, isFulfilled: true, at: start)
    #expect(audio(drain(&control)).isEmpty)
    #expect(control.snapshots.isEmpty)
  }

  @Test func R63_callIsOverWhenTheEndFailsOrTimesOutAsWell() throws {
    for isTimedOut in [true, false] {
      var (control, action) = try started()
      control.answer(action.id, isFulfilled: true, at: start)
      let end = try control.request([.init(call: Self.alice, kind: .end)], at: start)[0]
      if isTimedOut {
        control.advance(to: start.advanced(by: .seconds(5)))
      } else {
        control.answer(end.id, isFulfilled: false, at: start)
      }
      #expect(control.snapshots.isEmpty)
      #expect(audio(drain(&control)) == [.activateAudio, .deactivateAudio])
    }
  }

  @Test func R21_refusalsComeInTheirOrder() throws {
    var (control, _) = try started()
    control.maximumCallGroups = 1
    #expect(throws: TransactionRefusal.emptyTransaction) { try control.request([], at: start) }
    #expect(throws: TransactionRefusal.callUUIDAlreadyExists) {
      try control.request([.init(call: Self.alice, kind: .start)], at: start)
    }
    #expect(throws: TransactionRefusal.unknownCallUUID) {
      try control.request([.init(call: Self.bob, kind: .end)], at: start)
    }
    #expect(throws: TransactionRefusal.invalidAction) {
      try control.request([.init(call: Self.alice, kind: .answer)], at: start)
    }
    #expect(throws: TransactionRefusal.maximumCallGroupsReached) {
      try control.request([.init(call: Self.bob, kind: .start)], at: start)
    }
    control.invalidate()
    #expect(throws: TransactionRefusal.unknownCallProvider) {
      try control.request([.init(call: Self.bob, kind: .start)], at: start)
    }
  }

  @Test func R23_effectsApplyInTheOrderOfTheTransaction() throws {
    var control = CallControl()
    try control.reportIncoming(Self.bob, at: start)
    let actions = try control.request(
      [.init(call: Self.bob, kind: .setMuted(true)), .init(call: Self.bob, kind: .answer)],
      at: start
    )
    control.answer(actions[1].id, isFulfilled: true, at: start)
    #expect(!control.isAudioActive)
    control.answer(actions[0].id, isFulfilled: true, at: start)
    #expect(control.isAudioActive)
    #expect(control.snapshots.map(\.isMuted) == [true])
  }

  @Test func R32_resetVoidsEverythingAndDeactivates() throws {
    var (control, action) = try started()
    control.answer(action.id, isFulfilled: true, at: start)
    _ = drain(&control)
    control.reset()
    let effects = drain(&control)
    #expect(effects.contains(.didReset))
    #expect(audio(effects) == [.deactivateAudio])
    #expect(control.snapshots.isEmpty && control.pendingActions.isEmpty)
  }

  @Test func R73_answerEndsTheCallThatCannotBeHeld() throws {
    var (control, action) = try started()
    control.answer(action.id, isFulfilled: true, at: start)
    try control.reportIncoming(Self.bob, at: start)
    _ = drain(&control)
    _ = try control.request([.init(call: Self.bob, kind: .answer)], at: start)
    #expect(control.pendingActions.map(\.kind) == [.end, .answer])
    #expect(control.pendingActions.first?.call == Self.alice)
  }

  @Test func failedActivationEndsTheCallAndIsNeverPaired() throws {
    var (control, action) = try started()
    control.answer(action.id, isFulfilled: true, at: start)
    _ = drain(&control)
    control.audioActivationFailed(at: start)
    let end = try #require(control.pendingActions.first)
    control.answer(end.id, isFulfilled: true, at: start)
    #expect(audio(drain(&control)).isEmpty)
    #expect(control.snapshots.isEmpty)
  }
}
