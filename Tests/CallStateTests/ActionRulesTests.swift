import MediaCore
import Testing

@testable import CallState

/// The life of an action and of a transaction: R1 to R25.
struct ActionRulesTests {
  @Test func R1_timeOutsAreTheOriginals() {
    #expect(ActionKind.start(StartRequest(handle: CallScript.bob)).timeout == .seconds(600))
    #expect(ActionKind.answer.timeout == .seconds(60))
    for kind: ActionKind in [
      .end, .setHeld(true), .setMuted(true), .setGroup(nil), .playDTMF(digits: "1", .singleTone),
    ] {
      #expect(kind.timeout == .seconds(5))
    }
  }

  @Test func R2_deadlineCountsFromTheDelivery() throws {
    let script = CallScript()
    script.wait(100)
    let action = try script.start("A")[0]
    #expect(action.deadline == script.now.instant.advanced(by: .seconds(600)))
  }

  @Test func R3_eachActionIsAnsweredByItself() throws {
    let script = CallScript()
    try script.incoming("A")
    let actions = try script.request(("A", .answer), ("A", .setMuted(true)))
    script.answer(actions[0])
    #expect(script.control.pendingActions == [actions[1]])
  }

  @Test func R5_R6_answersToWhatIsNotPendingAreIgnored() throws {
    let script = CallScript()
    let action = try script.start("A")[0]
    let isTaken = script.control.answer(ActionID(rawValue: 77), isFulfilled: true, at: script.now)
    #expect(!isTaken)
    script.answer(action)
    script.take()
    #expect(!script.answer(action, isFulfilled: false))
    #expect(script.take().isEmpty)
    #expect(script.phase("A") == .started)
  }

  @Test func R6_answerAfterTheTimeOutIsIgnored() throws {
    let script = CallScript()
    let action = try script.start("A")[0]
    script.wait(600)
    #expect(!script.answer(action))
  }

  @Test func R7_datedAnswersSetTheDatesOfTheCall() throws {
    let script = CallScript()
    try script.incoming("A")
    let action = try script.request(("A", .answer))[0]
    let date = CallDate(secondsSince1970: 4_711)
    script.control.answer(action.id, isFulfilled: true, date: date, at: script.now)
    #expect(script.entry("A")?.connected == date)
  }

  @Test func R7_datedStartsAndEndsAreRecorded() throws {
    let script = CallScript()
    let start = try script.start("A")[0]
    let (began, over) = (CallDate(secondsSince1970: 4_711), CallDate(secondsSince1970: 4_811))
    script.control.answer(start.id, isFulfilled: true, date: began, at: script.now)
    script.connected("A")
    let end = try script.request(("A", .end))[0]
    script.control.answer(end.id, isFulfilled: true, date: over, at: script.now)
    script.take()
    script.wait(0)
    let record = try #require(script.records.first)
    #expect(record.started == began && record.ended == over)
    // Without a date it is the present time.
    try script.start("B")
    try script.fulfil("B")
    try script.request(("B", .end))
    try script.fulfil("B")
    #expect(script.records.last?.ended == script.now.date)
  }

  @Test func R8_R9_R10_timedOutAnswerEndsTheCallByAnAction() throws {
    let script = CallScript()
    try script.incoming("A")
    try script.request(("A", .answer))
    script.take()
    script.wait(60)
    #expect(script.take() == ["timedOut answer A", "execute 1", "perform end A"])
    script.wait(0)
    #expect(script.take().isEmpty)
    try script.fulfil("A")
    #expect(script.take() == ["(o) A ended", "recorded A failed"])
  }

  @Test func R10_failedStartEndsTheCallWithoutActivation() throws {
    let script = CallScript()
    try script.start("A")
    script.take()
    try script.fail("A")
    #expect(script.take() == ["(o) A ended", "recorded A failed"])
  }

  @Test func R10_failedAnswerDeliversAnEnd() throws {
    let script = CallScript()
    try script.incoming("A")
    try script.request(("A", .answer))
    script.take()
    try script.fail("A")
    #expect(script.take() == ["execute 1", "perform end A"])
  }

  @Test func R10_failedHoldMuteAndGroupChangeNothing() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setHeld(true)), ("A", .setMuted(true)))
    script.take()
    try script.fail("A")
    try script.fail("A")
    #expect(script.take().isEmpty)
    #expect(script.entry("A")?.isOnHold == false && script.entry("A")?.isMuted == false)
  }

  @Test(arguments: [true, false])
  func R10_R63_failedAndTimedOutEndsEndTheCallAnyway(isTimedOut: Bool) throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .end))
    script.take()
    if isTimedOut { script.wait(5) } else { try script.fail("A") }
    #expect(
      script.take()
        == (isTimedOut ? ["timedOut end A"] : [])
        + ["(o) A ended", "recorded A talked", "didDeactivate"]
    )
  }

  @Test func R17_R20_refusedTransactionChangesNothing() throws {
    let script = CallScript()
    try script.talk("A")
    let before = script.control.presentation
    #expect(throws: TransactionRefusal.unknownCallUUID) {
      try script.request(("A", .setHeld(true)), ("Z", .end))
    }
    #expect(script.take().isEmpty && script.control.presentation == before)
  }

  @Test func R21_refusalsComeInTheOrderOfTheTable() throws {
    let script = CallScript(groups: 1)
    try script.start("A")
    let start = ActionKind.start(StartRequest(handle: CallScript.bob))
    #expect(throws: TransactionRefusal.emptyTransaction) { try script.request() }
    #expect(throws: TransactionRefusal.callUUIDAlreadyExists) { try script.request(("A", start)) }
    #expect(throws: TransactionRefusal.unknownCallUUID) { try script.request(("B", .end)) }
    #expect(throws: TransactionRefusal.unknownCallUUID) { try script.request(("B", .unsupported)) }
    #expect(throws: TransactionRefusal.invalidAction) { try script.request(("A", .answer)) }
    #expect(throws: TransactionRefusal.invalidAction) { try script.request(("A", .unsupported)) }
    #expect(throws: TransactionRefusal.maximumCallGroupsReached) { try script.start("B") }
    script.invalidate()
    #expect(throws: TransactionRefusal.unknownCallProvider) { try script.start("B") }
    #expect(throws: TransactionRefusal.emptyTransaction) { try script.request() }
  }

  @Test func R21_bareActionIsInvalid() throws {
    let script = CallScript()
    #expect(throws: TransactionRefusal.invalidAction) {
      try script.control.request([.init(call: nil, kind: .unsupported)], at: script.now)
    }
  }

  @Test func R21_unsupportedCapabilitiesAreInvalid() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    var update = CallUpdate()
    update.supportsHolding = .set(false)
    update.supportsDTMF = .set(false)
    update.supportsGrouping = .set(false)
    script.update("A", update)
    for kind: ActionKind in [
      .setHeld(true), .playDTMF(digits: "1", .singleTone), .setGroup(CallScript.id("B")),
    ] {
      #expect(throws: TransactionRefusal.invalidAction) { try script.request(("A", kind)) }
    }
  }

  @Test func R21_ringingCallsCountAgainstTheLimitAndZeroRefusesEveryStart() throws {
    let script = CallScript(groups: 1)
    try script.incoming("A")
    #expect(throws: TransactionRefusal.maximumCallGroupsReached) { try script.start("B") }
    let none = CallScript(groups: 0)
    #expect(throws: TransactionRefusal.maximumCallGroupsReached) { try none.start("B") }
  }

  @Test func R21_endInTheSameTransactionMakesRoomForAStart() throws {
    let script = CallScript(groups: 1)
    try script.talk("A")
    try script.request(("A", .end), ("B", .start(StartRequest(handle: CallScript.bob))))
    #expect(
      script.take() == ["(o) B new, outgoing", "execute 2", "perform end A", "perform start B"]
    )
  }

  @Test func R10_failedTonesAndGroupsChangeNothing() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    let before = script.control.presentation
    try script.request(("B", .playDTMF(digits: "5", .singleTone)))
    script.take()
    try script.fail("B")
    try script.request(("B", .setGroup(CallScript.id("A"))))
    script.take()
    while script.control.pendingActions.contains(where: { $0.call == CallScript.id("B") }) {
      try script.fail("B")
    }
    #expect(script.control.presentation.calls.map(\.isOnHold) == before.calls.map(\.isOnHold))
    #expect(script.control.calls.allSatisfy { $0.group == nil })
  }

  @Test func R20_theFirstActionThatIsWrongDeterminesTheError() throws {
    let script = CallScript()
    try script.talk("A")
    #expect(throws: TransactionRefusal.unknownCallUUID) {
      try script.request(("Z", .end), ("A", .unsupported))
    }
    #expect(throws: TransactionRefusal.invalidAction) {
      try script.request(("A", .unsupported), ("Z", .end))
    }
  }

  @Test func R23_answersOutOfOrderTakeEffectInOrder() throws {
    let script = CallScript()
    try script.talk("A")
    let actions = try script.request(("A", .setMuted(true)), ("A", .setMuted(false)))
    script.answer(actions[1])
    #expect(script.entry("A")?.isMuted == false)
    script.answer(actions[0])
    #expect(script.entry("A")?.isMuted == false)
  }

  @Test func R67_endVoidsAPendingAnswer() throws {
    let script = CallScript()
    try script.incoming("A")
    let answer = try script.request(("A", .answer))
    script.take()
    try script.request(("A", .end))
    #expect(script.take().contains("voided answer A"))
    #expect(!script.answer(answer[0]))
    try script.fulfil("A")
    #expect(!script.take().contains("didActivate"))
  }

  @Test func R23_effectsComeInTheOrderOfTheTransaction() throws {
    let script = CallScript()
    try script.talk("A")
    try script.incoming("B")
    let actions = try script.request(("A", .setHeld(true)), ("B", .answer))
    script.take()
    script.answer(actions[1])
    #expect(script.take().isEmpty)
    script.answer(actions[0])
    #expect(script.take() == ["(o) A held", "didDeactivate", "(o) B connected", "didActivate"])
  }

  @Test func R23_theWrongOrderWaitsForTheHoldAllTheSame() throws {
    let script = CallScript()
    try script.talk("A")
    try script.incoming("B")
    let actions = try script.request(("B", .answer), ("A", .setHeld(true)))
    script.take()
    script.answer(actions[0])
    #expect(script.take().isEmpty)
    script.answer(actions[1])
    #expect(script.take() == ["(o) A held", "didDeactivate", "(o) B connected", "didActivate"])
  }

  @Test func R25_pendingIsWhatIsNotAnswered() throws {
    let script = CallScript()
    try script.talk("A")
    let actions = try script.request(("A", .setMuted(true)), ("A", .setHeld(true)))
    #expect(script.control.pendingActions == actions)
    script.answer(actions[0])
    #expect(script.control.pendingActions == [actions[1]])
    script.wait(5)
    #expect(script.control.pendingActions.isEmpty)
    try script.request(("A", .setMuted(true)))
    script.reset()
    #expect(script.control.pendingActions.isEmpty)
  }
}

extension CallScript {
  /// Connects a second call, after which the first one is on hold.
  func talk2(_ name: Character) throws {
    try start(name)
    fulfilAll()
    connected(name)
    take()
  }

  func fulfilAll() {
    while let action = control.pendingActions.first { answer(action) }
  }

  /// A conference of the calls A and B.
  static func conference() throws -> CallScript {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    try script.request(("A", .setGroup(id("B"))))
    script.fulfilAll()
    script.take()
    return script
  }
}
