import Testing

@testable import CallState

/// Several calls, groups, mute and tones: R69 to R86.
struct HoldRulesTests {
  @Test func R70_startHoldsTheCallThatIsHeardFirst() throws {
    let script = CallScript()
    try script.talk("A")
    try script.start("B")
    #expect(
      script.take() == [
        "execute 1", "perform hold A", "(o) B new, outgoing", "execute 1", "perform start B",
      ]
    )
    try script.fulfil("B")
    #expect(script.take().isEmpty)
    try script.fulfil("A")
    #expect(script.take() == ["(o) A held", "didDeactivate", "didActivate"])
  }

  @Test func R70_holdAndAcceptIsOneTransaction() throws {
    let script = CallScript()
    try script.talk("A")
    try script.incoming("B")
    script.take()
    script.decide(.incoming(CallScript.id("B"), .holdAndAnswer))
    #expect(script.take() == ["execute 2", "perform hold A", "perform answer B"])
  }

  @Test func R71_endHeldAndAcceptKeepsTheOneThatWasHeard() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    try script.incoming("C")
    script.take()
    #expect(
      script.control.presentation.choices == [.endHeldAndAnswer, .endAndAnswer, .decline]
    )
    script.decide(.incoming(CallScript.id("C"), .endHeldAndAnswer))
    #expect(
      script.take() == ["execute 3", "perform end A", "perform hold B", "perform answer C"]
    )
  }

  @Test func R73_callThatCannotBeHeldIsEndedInstead() throws {
    let script = CallScript()
    try script.talk("A")
    var update = CallUpdate()
    update.supportsHolding = .set(false)
    script.update("A", update)
    try script.incoming("B")
    script.take()
    try script.request(("B", .answer))
    #expect(script.take() == ["execute 1", "perform end A", "execute 1", "perform answer B"])
    // There is nothing to swap with: what is ending is not held on top.
    script.decide(.swap(to: CallScript.id("B")))
    #expect(!script.take().contains { $0.hasPrefix("perform hold") })
  }

  @Test func R74_swapHoldsOneAndResumesTheOther() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    script.decide(.swap(to: CallScript.id("A")))
    #expect(script.take() == ["execute 2", "perform hold B", "perform resume A"])
  }

  @Test func R75_heldCallIsResumedWhenTheUserEndsTheOther() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    try script.request(("B", .end))
    script.take()
    try script.fulfil("B")
    #expect(
      script.take() == [
        "(o) B ended", "recorded B talked", "didDeactivate", "execute 1", "perform resume A",
      ]
    )
    try script.fulfil("A")
    #expect(script.take() == ["(o) A resumed", "didActivate"])
  }

  @Test func R75_theLatestHeldCallIsResumed() throws {
    let script = CallScript(groups: 3)
    try script.talk("A")
    try script.talk2("B")
    try script.talk2("C")
    try script.request(("C", .end))
    script.take()
    try script.fulfil("C")
    #expect(script.take().last == "perform resume B")
  }

  @Test func R75_decliningAnotherCallerResumesNothing() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setHeld(true)))
    try script.fulfil("A")
    try script.incoming("B")
    script.decide(.incoming(CallScript.id("B"), .decline))
    script.take()
    try script.fulfil("B")
    #expect(script.take() == ["(o) B ended", "recorded B declined"])
  }

  @Test func R76_heldCallStaysHeldWhenTheFarSideEndsTheOther() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    script.ended("B")
    #expect(script.take() == ["(o) B ended", "recorded B talked", "didDeactivate"])
    #expect(script.entry("A")?.isOnHold == true)
  }

  @Test(arguments: [true, false])
  func R77_callThatDoesNotHoldInTimeIsEnded(isTimedOut: Bool) throws {
    let script = CallScript()
    try script.talk("A")
    try script.incoming("B")
    try script.request(("B", .answer))
    try script.fulfil("B")
    script.take()
    if isTimedOut { script.wait(5) } else { try script.fail("A") }
    #expect(
      script.take()
        == (isTimedOut ? ["timedOut hold A"] : []) + ["execute 1", "perform end A"]
    )
    try script.fulfil("A")
    #expect(
      script.take()
        == [
          "(o) A ended", "recorded A talked", "didDeactivate", "(o) B connected", "didActivate",
        ]
    )
  }

  @Test func R78_unchangedHoldIsNoEvent() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setHeld(false)))
    script.take()
    try script.fulfil("A")
    #expect(script.take().isEmpty)
  }

  @Test func R79_holdOfTheAppGoesTheSameWay() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setHeld(true)))
    #expect(script.take() == ["execute 1", "perform hold A"])
    try script.fulfil("A")
    #expect(script.take() == ["(o) A held", "didDeactivate"])
  }

  @Test func R80_groupIsHeardTogetherAndCountsOnce() throws {
    let script = CallScript(groups: 2)
    try script.talk("A")
    try script.talk2("B")
    try script.request(("A", .setGroup(CallScript.id("B"))))
    script.take()
    try script.fulfil("A")
    #expect(script.take() == ["execute 1", "perform resume A"])
    try script.fulfil("A")
    #expect(script.take() == ["(o) A resumed"])
    #expect(script.entry("A")?.group != nil && script.entry("A")?.group == script.entry("B")?.group)
    // One group: there is room for another call, which holds both.
    try script.start("C")
    #expect(
      script.take() == [
        "execute 1", "perform hold A", "execute 1", "perform hold B",
        "(o) C new, outgoing", "execute 1", "perform start C",
      ]
    )
  }

  @Test func R80_holdOfOneMemberConcernsAll() throws {
    let script = try CallScript.conference()
    try script.request(("A", .setHeld(true)))
    #expect(script.take() == ["execute 1", "perform hold A", "execute 1", "perform hold B"])
    try script.fulfil("A")
    #expect(script.take() == ["(o) A held"])
    try script.fulfil("B")
    #expect(script.take() == ["(o) B held", "didDeactivate"])
  }

  @Test func R80_leavingAGroupHoldsTheRest() throws {
    let script = try CallScript.conference()
    script.decide(.separate(CallScript.id("A")))
    #expect(script.take() == ["execute 1", "perform hold B", "execute 1", "perform ungroup A"])
    try script.fulfil("A")
    try script.fulfil("B")
    #expect(script.take() == ["(o) B held"])
    #expect(script.entry("A")?.group == nil && script.entry("B")?.group == nil)
    #expect(script.entry("A")?.isOnHold == false)
  }

  @Test func R80_groupHasALimit() throws {
    let script = CallScript(callsPerGroup: 1)
    try script.talk("A")
    try script.talk2("B")
    #expect(throws: TransactionRefusal.invalidAction) {
      try script.request(("A", .setGroup(CallScript.id("B"))))
    }
    #expect(throws: TransactionRefusal.unknownCallUUID) {
      try script.request(("A", .setGroup(CallScript.id("Z"))))
    }
    #expect(throws: TransactionRefusal.invalidAction) {
      try script.request(("A", .setGroup(CallScript.id("A"))))
    }
  }

  @Test func R82_R84_muteIsOneCallsAndSurvivesAHold() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setMuted(true)))
    #expect(script.entry("A")?.isMuted == false)
    script.take()
    try script.fulfil("A")
    #expect(script.take().isEmpty)
    try script.talk2("B")
    #expect(script.entry("A")?.isMuted == true && script.entry("B")?.isMuted == false)
  }

  @Test func R85_eachKeyIsAnAction() throws {
    let script = CallScript()
    try script.talk("A")
    script.decide(.press(CallScript.id("A"), digits: "4*"))
    #expect(script.take() == ["execute 2", "perform press 4 A", "perform press * A"])
    let keys = script.control.pendingActions.map(\.kind)
    #expect(keys == [.playDTMF(digits: "4", .singleTone), .playDTMF(digits: "*", .singleTone)])
  }

  @Test func R70_callHeldBeforeItsAnswerIsFulfilledDisturbsNobody() throws {
    let script = CallScript()
    try script.incoming("A")
    let answer = try script.request(("A", .answer))[0]
    try script.incoming("B")
    script.decide(.incoming(CallScript.id("B"), .holdAndAnswer))
    for action in script.control.pendingActions where action.id != answer.id {
      script.answer(action)
    }
    script.take()
    script.answer(answer)
    #expect(script.take() == ["(o) A connected"])
    #expect(script.control.audio == .active(script.provider) && script.phase("B") == .connected)
  }

  @Test func R70_callThatIsBeingResumedIsHeldAgainForTheNext() throws {
    let script = CallScript(groups: 3)
    try script.talk("A")
    try script.talk2("B")
    try script.request(("B", .end))
    try script.fulfil("B")
    script.take()
    try script.start("C")
    #expect(
      script.take() == [
        "execute 1", "perform hold A", "voided resume A", "(o) C new, outgoing", "execute 1",
        "perform start C",
      ]
    )
    script.fulfilAll()
    #expect(script.entry("A")?.isOnHold == true && script.phase("C") == .started)
  }

  @Test func R70_lateResumeEndsNobody() throws {
    let script = CallScript(groups: 3)
    try script.talk("A")
    try script.talk2("B")
    try script.request(("B", .end))
    try script.fulfil("B")
    let resume = try #require(script.control.pendingActions.first { $0.kind == .setHeld(false) })
    try script.start("C")
    script.fulfilAll()
    script.take()
    // The network was slow to resume it; meanwhile the user has called another person.
    script.answer(resume)
    #expect(script.take().isEmpty && script.phase("C") == .started)
    #expect(script.entry("A")?.isOnHold == true)
  }

  @Test func R77_callThatWasNeverAskedIsHeldAndNotEnded() throws {
    let script = CallScript(groups: 3)
    try script.incoming("A")
    let answer = try script.request(("A", .answer))[0]
    try script.start("B")
    // A has no voice yet and cannot be held; B stands meanwhile.
    for action in script.control.pendingActions where action.id != answer.id {
      script.answer(action, isFulfilled: action.kind != .setHeld(true))
    }
    script.take()
    script.answer(answer)
    #expect(script.take() == ["execute 1", "perform hold B"])
    // Who does not hold when asked is ended.
    let hold = try #require(script.control.pendingActions.first)
    script.answer(hold, isFulfilled: false)
    #expect(script.take().contains("perform end B"))
  }

  @Test func R77_callThatTheUserHasResumedIsHeldAndNotEnded() throws {
    let script = CallScript(groups: 3)
    try script.talk("B")
    try script.request(("B", .setHeld(true)))
    script.fulfilAll()
    try script.incoming("A")
    let answer = try script.request(("A", .answer))[0]
    try script.request(("B", .setHeld(false)))
    for action in script.control.pendingActions where action.id != answer.id {
      script.answer(action, isFulfilled: action.call == CallScript.id("B"))
    }
    script.take()
    script.answer(answer)
    #expect(script.take() == ["execute 1", "perform hold B"])
  }

  @Test func R75_callHeldForOneThatWasGivenUpIsResumed() throws {
    let script = CallScript(groups: 3)
    try script.talk("A")
    try script.start("B")
    let hold = try #require(script.control.pendingActions.first { $0.kind == .setHeld(true) })
    try script.request(("B", .end))
    for action in script.control.pendingActions where action.id != hold.id {
      script.answer(action)
    }
    script.take()
    script.answer(hold)
    #expect(script.take().contains("perform resume A"))
  }

  @Test func R75_callHeldForOneThatTheFarSideEndedStaysOnHold() throws {
    let script = CallScript(groups: 3)
    try script.talk("A")
    try script.start("B")
    let hold = try #require(script.control.pendingActions.first { $0.kind == .setHeld(true) })
    script.ended("B")
    script.take()
    script.answer(hold)
    #expect(!script.take().contains("perform resume A"))
  }

  @Test func R72_callsThatRingTakeNoRoomFromThoseThatAreHeld() throws {
    let script = CallScript(groups: 2)
    try script.talk("A")
    try script.incoming("B")
    try script.incoming("C")
    script.take()
    try script.request(("B", .answer))
    #expect(script.take().contains("perform hold A"))
  }

  @Test func R67_callThatIsEndingIsNotAnswered() throws {
    let script = CallScript()
    try script.incoming("A")
    script.decide(.incoming(CallScript.id("A"), .decline))
    #expect(throws: TransactionRefusal.invalidAction) {
      try script.request(("A", .answer))
    }
  }

  @Test func R80_groupsInOneTransactionAreCountedTogether() throws {
    let script = CallScript(groups: 4, callsPerGroup: 2)
    try script.talk("A")
    try script.talk2("B")
    try script.talk2("C")
    let withB = ActionKind.setGroup(CallScript.id("B"))
    #expect(throws: TransactionRefusal.invalidAction) {
      try script.request(("A", withB), ("C", withB))
    }
    try script.request(("A", withB))
    #expect(throws: TransactionRefusal.invalidAction) { try script.request(("C", withB)) }
  }

  /// A call on hold whose devices are not available when it is resumed.
  private static func resumedWithoutDevices() throws -> CallScript {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setHeld(true)))
    script.fulfilAll()
    script.opensAudioAtOnce = false
    try script.request(("A", .setHeld(false)))
    script.fulfilAll()
    script.take()
    script.audioFailed()
    return script
  }

  @Test func R69_heldCallStaysOnHoldWhileTheDevicesCannotBeHad() throws {
    let script = try Self.resumedWithoutDevices()
    #expect(script.take().contains("perform hold A"))
    script.fulfilAll()
    #expect(script.entry("A")?.isOnHold == true && script.control.audio == .inactive)
    // Later it can be resumed.
    script.opensAudioAtOnce = true
    try script.request(("A", .setHeld(false)))
    script.take()
    script.fulfilAll()
    #expect(script.take().contains("didActivate"))
  }

  @Test func R69_callWithoutDevicesThatDoesNotHoldEnds() throws {
    let script = try Self.resumedWithoutDevices()
    script.take()
    try script.fail("A")
    #expect(script.take().contains("perform end A"))
    script.fulfilAll()
    #expect(script.entry("A") == nil && script.control.audio == .inactive)
  }

  @Test func R75_callThatIsAboutToEndIsNotResumed() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    try script.request(("B", .end), ("A", .end))
    script.take()
    try script.fulfil("B")
    #expect(script.take() == ["(o) B ended", "recorded B talked", "didDeactivate"])
  }

  @Test func R80_groupWithAMemberThatCannotBeHeldIsNotHeld() throws {
    let script = try CallScript.conference()
    var update = CallUpdate()
    update.supportsHolding = .set(false)
    script.update("B", update)
    #expect(throws: TransactionRefusal.invalidAction) { try script.request(("A", .setHeld(true))) }
  }

  @Test func R80_muteOfAMemberDoesNotExcuseItFromTheHold() throws {
    let script = try CallScript.conference()
    try script.request(("A", .setHeld(true)), ("B", .setMuted(true)))
    #expect(script.take().contains("perform hold B"))
    // An app that holds each member by itself hears of each once.
    try script.request(("B", .setHeld(true)))
    #expect(script.take() == ["execute 1", "perform hold B"])
  }

  @Test func R77_failedResumeEndsNobody() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    let actions = try script.request(
      ("A", .playDTMF(digits: "1", .singleTone)),
      ("A", .setHeld(false))
    )
    script.answer(actions[1], isFulfilled: false)
    let hold = try #require(script.control.pendingActions.first { $0.call == CallScript.id("B") })
    script.take()
    script.answer(hold, isFulfilled: false)
    #expect(script.take().isEmpty && script.phase("B") == .connected)
  }

  @Test func R51_newHandleLosesTheOldLabel() throws {
    let script = CallScript()
    var update = CallUpdate()
    update.remoteHandle = .set(CallScript.bob)
    try script.incoming("A", update, screening: CallerScreening(label: "Telemarketer"))
    update.remoteHandle = .set(CallHandle(kind: .generic, value: "carol"))
    script.update("A", update)
    #expect(script.entry("A")?.details.displayName == "carol")
  }
}
