import MediaCore
import Testing

@testable import CallState

/// Incoming and outgoing calls, their ends and their updates: R35 to R68.
struct CallRulesTests {
  @Test func R35_incomingCallRings() throws {
    let script = CallScript()
    try script.incoming("A")
    #expect(script.take() == ["(o) A new"])
    #expect(script.phase("A") == .ringing)
    #expect(script.control.presentation.incoming == CallScript.id("A"))
    #expect(script.control.presentation.isRinging)
  }

  @Test func R38_secondReportLeavesTheCallAlone() throws {
    let script = CallScript()
    try script.incoming("A")
    var update = CallUpdate()
    update.callerName = .set("Eve")
    #expect(throws: IncomingRefusal.callUUIDAlreadyExists) { try script.incoming("A", update) }
    #expect(script.entry("A")?.details.callerName == nil)
  }

  @Test func R39_nameIsFreeAgainAfterItsCall() throws {
    let script = CallScript()
    try script.incoming("A")
    script.ended("A")
    try script.incoming("A")
    #expect(script.phase("A") == .ringing)
  }

  @Test func R37_R40_R41_filteredCallersLeaveNoTrace() throws {
    let script = CallScript()
    let both = CallerScreening(isBlocked: true, isSilenced: true)
    #expect(throws: IncomingRefusal.filteredByBlockList) {
      try script.incoming("A", screening: both)
    }
    #expect(throws: IncomingRefusal.filteredByDoNotDisturb) {
      try script.incoming("A", screening: CallerScreening(isSilenced: true))
    }
    #expect(script.take().isEmpty && script.control.snapshots.isEmpty)
    try script.incoming("A")
    #expect(throws: IncomingRefusal.callUUIDAlreadyExists) {
      try script.incoming("A", screening: both)
    }
  }

  @Test func R42_R72_callBeyondTheLimitIsShownWithoutHold() throws {
    let script = CallScript(groups: 1)
    try script.talk("A")
    try script.incoming("B")
    #expect(script.control.presentation.choices == [.endAndAnswer, .decline])
    let wide = CallScript(groups: 2)
    try wide.talk("A")
    try wide.incoming("B")
    #expect(wide.control.presentation.choices == [.holdAndAnswer, .endAndAnswer, .decline])
  }

  @Test func R43_secondRingingCallWaitsForTheScreenAndSilencesTheFirst() throws {
    let script = CallScript()
    try script.incoming("A")
    try script.incoming("B")
    #expect(script.control.presentation.incoming == CallScript.id("A"))
    #expect(!script.control.presentation.isRinging)
    script.ended("A")
    #expect(script.control.presentation.incoming == CallScript.id("B"))
    #expect(script.control.presentation.isRinging)
  }

  @Test func R43_callThatCameDuringATalkRingsOnceThatIsOver() throws {
    let script = CallScript()
    try script.talk("A")
    try script.incoming("B")
    #expect(!script.control.presentation.isRinging)
    script.ended("A")
    #expect(script.control.presentation.isRinging)
  }

  @Test func R44_reportAndEndAtOnceLeaveNothing() throws {
    let script = CallScript()
    try script.incoming("A")
    script.ended("A", .failed)
    #expect(script.control.presentation.calls.isEmpty && script.control.nextDeadline == nil)
  }

  @Test func R45_callIsConnectedWithTheFulfilmentOfTheAnswer() throws {
    let script = CallScript()
    try script.incoming("A")
    script.decide(.incoming(CallScript.id("A"), .answer))
    #expect(script.phase("A") == .answering)
    #expect(script.control.snapshots.map(\.hasConnected) == [false])
    try script.fulfil("A")
    #expect(script.control.snapshots.map(\.hasConnected) == [true])
  }

  @Test func R46_R47_declineAndRingTimeOutAreEndActions() throws {
    let script = CallScript(ringing: 30)
    try script.incoming("A")
    script.take()
    script.decide(.incoming(CallScript.id("A"), .decline))
    #expect(script.take() == ["execute 1", "perform end A"])
    try script.fulfil("A")
    try script.incoming("B")
    script.take()
    script.wait(29)
    #expect(script.take().isEmpty)
    script.wait(1)
    #expect(script.take() == ["execute 1", "perform end B"])
  }

  @Test func R48_callerGivingUpSendsNoActionAndVoidsTheAnswer() throws {
    let script = CallScript()
    try script.incoming("A")
    try script.request(("A", .answer))
    script.take()
    script.ended("A")
    #expect(script.take() == ["voided answer A", "(o) A ended", "recorded A missed"])
  }

  @Test func R49_R50_updatesChangeOnlyWhatTheySet() throws {
    let script = CallScript()
    try script.incoming("A")
    #expect(script.entry("A")?.details.supportsHolding == true)
    #expect(script.entry("A")?.details.hasVideo == false)
    var update = CallUpdate()
    update.callerName = .set("Eve")
    update.supportsHolding = .set(false)
    script.update("A", update)
    var second = CallUpdate()
    second.remoteHandle = .set(CallScript.bob)
    script.update("A", second)
    #expect(script.entry("A")?.details.callerName == "Eve")
    #expect(script.entry("A")?.details.supportsHolding == false)
    #expect(script.entry("A")?.details.remoteHandle == CallScript.bob)
    second = CallUpdate()
    second.callerName = .set(nil)
    script.update("A", second)
    #expect(script.entry("A")?.details.displayName == "bob")
  }

  @Test func R51_nameShownIsTheAppsThenTheDirectorysThenTheHandle() throws {
    let script = CallScript()
    var update = CallUpdate()
    update.remoteHandle = .set(CallScript.bob)
    try script.incoming("A", update, screening: CallerScreening(label: "Telemarketer"))
    #expect(script.entry("A")?.details.displayName == "Telemarketer")
    update.callerName = .set("Bob")
    script.update("A", update)
    #expect(script.entry("A")?.details.displayName == "Bob")
  }

  @Test func R52_R59_R66_reportsOnUnknownAndWrongCallsAreIgnored() throws {
    let script = CallScript()
    try script.incoming("A")
    script.take()
    script.update("Z", CallUpdate())
    script.connecting("A")
    script.connected("A")
    script.connected("Z")
    script.ended("Z")
    script.control.reportEnded(
      CallScript.id("A"),
      of: ProviderID(rawValue: 99),
      reason: .failed,
      at: script.now
    )
    #expect(script.take().isEmpty && script.phase("A") == .ringing)
  }

  @Test func R54_outgoingCallIsVisibleFromItsAcceptance() throws {
    let script = CallScript()
    try script.start("A")
    #expect(script.take() == ["(o) A new, outgoing", "execute 1", "perform start A"])
    var update = CallUpdate()
    update.callerName = .set("Bob")
    script.update("A", update)
    #expect(script.entry("A")?.details.callerName == "Bob")
  }

  @Test func R55_R58_phasesOfAnOutgoingCall() throws {
    let script = CallScript()
    try script.start("A")
    #expect(script.phase("A") == .starting)
    try script.fulfil("A")
    #expect(script.phase("A") == .started)
    script.connecting("A")
    #expect(script.phase("A") == .connecting)
    #expect(script.control.snapshots.map(\.hasConnected) == [false])
    script.wait(3)
    script.connected("A")
    #expect(script.phase("A") == .connected)
    #expect(script.entry("A")?.connected == script.now.date)
  }

  @Test func R56_progressBeforeTheFulfilmentIsAppliedThen() throws {
    let script = CallScript()
    try script.start("A")
    script.connected("A")
    script.connecting("A")
    #expect(script.control.snapshots.map(\.hasConnected) == [false])
    script.take()
    try script.fulfil("A")
    #expect(script.take() == ["(o) A connected", "didActivate"])
  }

  @Test func R60_startThatIsNeverAnsweredFails() throws {
    let script = CallScript()
    try script.start("A")
    script.take()
    script.wait(600)
    #expect(script.take() == ["timedOut start A", "(o) A ended", "recorded A failed"])
  }

  @Test func R61_contactIdentifierIsKeptAsItCame() throws {
    let script = CallScript()
    let request = StartRequest(handle: CallScript.bob, contactIdentifier: "Bob the Builder")
    try script.request(("A", .start(request)))
    #expect(script.entry("A")?.details.contactIdentifier == "Bob the Builder")
    #expect(script.entry("A")?.details.remoteHandle == CallScript.bob)
  }

  @Test func R62_endsThatTheAppDidNotReportArriveAsActions() throws {
    let script = CallScript(groups: 1)
    try script.talk("A")
    script.decide(.end(CallScript.id("A")))
    #expect(script.take() == ["execute 1", "perform end A"])
  }

  @Test func R64_reportedEndCompletesAPendingEndSilently() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .end))
    script.take()
    script.ended("A")
    #expect(script.take() == ["voided end A", "(o) A ended", "recorded A talked", "didDeactivate"])
  }

  @Test func R66_reportAfterAFulfilledEndIsIgnored() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .end))
    try script.fulfil("A")
    script.take()
    script.ended("A")
    #expect(script.take().isEmpty)
  }

  @Test func R67_endSupersedesAPendingStart() throws {
    let script = CallScript()
    let start = try script.start("A")[0]
    script.take()
    try script.request(("A", .end))
    #expect(script.take() == ["execute 1", "perform end A", "voided start A"])
    #expect(!script.answer(start))
    script.wait(5)
    #expect(
      script.take() == ["timedOut end A", "(o) A ended", "recorded A cancelled"]
    )
    script.wait(600)
    #expect(script.take().isEmpty)
  }
}
