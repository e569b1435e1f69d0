import Testing

@testable import CallState

/// Calls of several programs of one user: R69 to R77 between them.
struct OtherProgramTests {
  @Test func R70_anotherProgramsCallHoldsThisOnes() throws {
    let script = CallScript()
    try script.talk("A")
    script.makeWay()
    #expect(script.take() == ["execute 1", "perform hold A"])
    try script.fulfil("A")
    #expect(script.take() == ["(o) A held", "didDeactivate"])
    // A held call is in the way of none.
    script.makeWay()
    #expect(script.take().isEmpty)
  }

  @Test func R73_callThatCannotBeHeldIsEndedForAnotherProgram() throws {
    let script = CallScript()
    try script.talk("A")
    var update = CallUpdate()
    update.supportsHolding = .set(false)
    script.update("A", update)
    script.take()
    script.makeWay()
    #expect(script.take() == ["execute 1", "perform end A"])
  }

  @Test func R75_callThatWasHeldForAnotherProgramIsResumed() throws {
    let script = CallScript()
    try script.talk("A")
    script.makeWay()
    try script.fulfil("A")
    script.take()
    script.takeBack()
    #expect(script.take() == ["execute 1", "perform resume A"])
    try script.fulfil("A")
    #expect(script.take() == ["(o) A resumed", "didActivate"])
  }

  @Test func R75_callThatTheUserHeldIsNotResumedForAnotherProgram() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setHeld(true)))
    try script.fulfil("A")
    script.take()
    script.makeWay()
    script.takeBack()
    #expect(script.take().isEmpty)
  }

  @Test func R75_callThatTheUserHasResumedIsNotResumedLater() throws {
    let script = CallScript()
    try script.talk("A")
    script.makeWay()
    try script.fulfil("A")
    for isHeld in [false, true] {
      try script.request(("A", .setHeld(isHeld)))
      try script.fulfil("A")
    }
    script.take()
    script.takeBack()
    #expect(script.take().isEmpty)
  }

  @Test func R75_endByTheUserGivesTheOtherProgramsCallBack() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .end))
    #expect(script.returns == 0)
    try script.fulfil("A")
    #expect(script.returns == 1)
  }

  @Test func R75_onlyACallThatWasHeldForAnotherProgramIsResumed() throws {
    let script = CallScript()
    try script.talk("A")
    script.makeWay()
    try script.fulfil("A")
    try script.talk("B")
    try script.request(("B", .setHeld(true)))
    try script.fulfil("B")
    script.take()
    script.takeBack()
    #expect(script.take() == ["execute 1", "perform resume A"])
  }

  /// Three programs have held their calls for one another, and the second call is over.
  @Test func R75_programWithoutACallPassesTheReturnOn() throws {
    let script = CallScript()
    try script.talk("A")
    script.makeWay()
    try script.fulfil("A")
    try script.request(("A", .end))
    try script.fulfil("A")
    #expect(script.returns == 0)
    script.takeBack()
    #expect(script.returns == 1)
  }

  @Test func R75_ownHeldCallComesFirst() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    try script.request(("B", .end))
    try script.fulfil("B")
    #expect(script.take().last == "perform resume A" && script.returns == 0)
  }

  @Test func R76_endByTheFarSideGivesNothingBack() throws {
    let script = CallScript()
    try script.talk("A")
    script.ended("A")
    #expect(script.returns == 0)
  }

  @Test func R77_callThatDoesNotHoldForAnotherProgramIsEnded() throws {
    let script = CallScript()
    try script.talk("A")
    script.makeWay()
    script.take()
    script.wait(5)
    #expect(script.take().last == "perform end A")
  }
}
