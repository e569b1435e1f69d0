import Testing

@testable import CallState

/// Providers, the session's owner and recents: R29 to R34, R87 to R99, R104.
struct ProviderRulesTests {
  @Test func R29_changedLimitsCountForTheNextRequest() throws {
    let script = CallScript(groups: 1)
    try script.talk("A")
    #expect(throws: TransactionRefusal.maximumCallGroupsReached) { try script.start("B") }
    script.control.configure(script.provider, ProviderSettings(maximumCallGroups: 2))
    try script.start("B")
  }

  @Test func R29_recentsAreDecidedWhenACallEnds() throws {
    let script = CallScript()
    try script.talk("A")
    script.control.configure(script.provider, ProviderSettings(includesCallsInRecents: false))
    script.ended("A")
    #expect(script.take() == ["(o) A ended", "didDeactivate"])
  }

  @Test func R106_onlyHandlesThatTheAppDialsCanBeCalledBack() throws {
    let script = CallScript()
    script.control.configure(
      script.provider,
      ProviderSettings(supportedHandleKinds: [.phoneNumber])
    )
    for kind in [CallHandle.Kind.phoneNumber, .generic] {
      var update = CallUpdate()
      update.remoteHandle = .set(CallHandle(kind: kind, value: "5550100"))
      try script.incoming("A", update)
      script.ended("A")
    }
    #expect(script.records.map(\.canBeCalledBack) == [true, false])
  }

  @Test func R81_nothingThatAnAppReportsHoldsACall() throws {
    let script = CallScript()
    try script.talk("A")
    var update = CallUpdate()
    update.supportsHolding = .set(false)
    update.callerName = .set("Bob (has put you on hold)")
    script.update("A", update)
    script.connecting("A")
    script.connected("A")
    #expect(script.take().allSatisfy { !$0.contains("held") })
    #expect(script.entry("A")?.isOnHold == false)
  }

  @Test func R30_invalidateEndsItsCallsAndRefusesWhatFollows() throws {
    let script = CallScript()
    try script.talk("A")
    try script.incoming("B")
    script.take()
    script.invalidate()
    #expect(
      script.take()
        == [
          "(o) A ended", "recorded A failed", "(o) B ended", "recorded B failed", "didDeactivate",
        ]
    )
    #expect(throws: TransactionRefusal.unknownCallProvider) { try script.start("C") }
    #expect(throws: IncomingRefusal.unknownCallProvider) { try script.incoming("C") }
  }

  @Test func R32_resetVoidsEverything() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setMuted(true)))
    script.take()
    script.reset()
    #expect(
      script.take()
        == ["voided mute A", "(o) A ended", "recorded A failed", "reset", "didDeactivate"]
    )
    #expect(throws: TransactionRefusal.unknownCallUUID) { try script.request(("A", .end)) }
  }

  @Test func R33_actionsGoToTheOwnerAndStartsToTheNewestWithADelegate() throws {
    let script = CallScript()
    try script.talk("A")
    let second = script.control.addProvider(ProviderSettings())
    let third = script.control.addProvider(ProviderSettings())
    script.control.setHasDelegate(second, true)
    #expect(try script.request(("A", .setMuted(true)))[0].provider == script.provider)
    #expect(try script.start("B")[0].provider == second)
    script.control.setHasDelegate(third, true)
    script.control.invalidate(second, at: script.now)
    #expect(try script.start("C")[0].provider == third)
  }

  @Test func R69_otherProvidersCallIsHeldAndTheSessionChangesHands() throws {
    let script = CallScript()
    try script.talk("A")
    let other = script.control.addProvider(ProviderSettings())
    script.control.setHasDelegate(other, true)
    try script.control.reportIncoming(
      CallScript.id("B"),
      CallUpdate(),
      of: other,
      at: script.now
    )
    script.take()
    script.decide(.incoming(CallScript.id("B"), .holdAndAnswer))
    #expect(
      script.take()
        == [
          "(o) B new", "execute 1", "perform hold A", "execute 1", "perform answer B",
        ]
    )
    try script.fulfil("A")
    try script.fulfil("B")
    #expect(
      script.take()
        == ["(o) A held", "didDeactivate", "(o) B connected", "didActivate \(other.rawValue)"]
    )
  }

  @Test func R76_sessionIsWithheldWhileOnlyHeldCallsLive() throws {
    let script = CallScript()
    try script.talk("A")
    #expect(!script.control.isSessionWithheld)
    try script.request(("A", .setHeld(true)))
    try script.fulfil("A")
    #expect(script.control.isSessionWithheld)
    try script.request(("A", .setHeld(false)))
    try script.fulfil("A")
    #expect(!script.control.isSessionWithheld)
  }

  @Test func R88_sessionIsActivatedWithTheFulfilmentAndNotBefore() throws {
    let script = CallScript()
    try script.start("A")
    #expect(script.control.audio == .inactive)
    script.connected("A")
    #expect(script.control.audio == .inactive)
    try script.fulfil("A")
    #expect(script.control.audio == .active(script.provider))
  }

  @Test func R90_R92_activationsAndDeactivationsAlternate() throws {
    let script = CallScript()
    try script.talk("A")
    for kind: ActionKind in [.setHeld(true), .setHeld(false), .setHeld(true), .end] {
      try script.request(("A", kind))
      try script.fulfil("A")
    }
    #expect(
      script.take().filter { $0.hasPrefix("did") } == [
        "didDeactivate", "didActivate", "didDeactivate",
      ]
    )
  }

  @Test func R91_swapReleasesAndTakesAndKeepsTheDevicesInBetween() throws {
    let script = CallScript()
    try script.talk("A")
    try script.talk2("B")
    let actions = try script.request(("B", .setHeld(true)), ("A", .setHeld(false)))
    script.answer(actions[0])
    script.answer(actions[1])
    #expect(
      script.take() == [
        "execute 2", "perform hold B", "perform resume A",
        "(o) B held", "didDeactivate", "(o) A resumed", "didActivate",
      ]
    )
    script.control.reportEnded(
      CallScript.id("A"),
      of: script.provider,
      reason: .remoteEnded,
      at: script.now
    )
    var releases: [CallControl.DeviceRelease] = []
    while let effect = script.control.nextEffect() {
      if case .deactivateAudio(_, let release) = effect { releases.append(release) }
    }
    #expect(releases == [.afterGraceTime])
  }

  @Test func R93_everyResumeActivates() throws {
    let script = CallScript()
    try script.talk("A")
    try script.request(("A", .setHeld(true)))
    try script.fulfil("A")
    script.take()
    try script.request(("A", .setHeld(false)))
    try script.fulfil("A")
    #expect(
      script.take() == ["execute 1", "perform resume A", "(o) A resumed", "didActivate"]
    )
  }

  @Test func failedActivationEndsTheCallAndIsNeverPaired() throws {
    let script = CallScript()
    script.opensAudioAtOnce = false
    try script.start("A")
    try script.fulfil("A")
    script.take()
    script.audioFailed()
    #expect(script.take() == ["execute 1", "perform end A"])
    try script.fulfil("A")
    #expect(script.take() == ["(o) A ended", "recorded A cancelled"])
  }

  @Test func R57_R65_R104_resultsOfCalls() throws {
    func result(_ play: (CallScript) throws -> Void) throws -> String? {
      let script = CallScript()
      try play(script)
      return script.take().last { $0.hasPrefix("recorded") }
    }
    #expect(
      try result {
        try $0.talk("A"); $0.ended("A")
      } == "recorded A talked"
    )
    #expect(
      try result {
        try $0.start("A"); try $0.fulfil("A"); $0.ended("A", .unanswered)
      }
        == "recorded A unanswered"
    )
    #expect(
      try result {
        try $0.start("A"); try $0.fulfil("A"); try $0.request(("A", .end)); try $0.fulfil("A")
      } == "recorded A cancelled"
    )
    #expect(
      try result {
        try $0.incoming("A"); $0.ended("A")
      } == "recorded A missed"
    )
    #expect(
      try result {
        try $0.incoming("A"); $0.ended("A", .answeredElsewhere)
      }
        == "recorded A answeredElsewhere"
    )
    #expect(
      try result {
        try $0.incoming("A"); $0.ended("A", .declinedElsewhere)
      }
        == "recorded A declinedElsewhere"
    )
    #expect(
      try result {
        try $0.incoming("A"); $0.decide(.incoming(CallScript.id("A"), .decline))
        try $0.fulfil("A")
      } == "recorded A declined"
    )
    #expect(
      try result {
        try $0.incoming("A"); $0.wait(60); try $0.fulfil("A")
      } == "recorded A missed"
    )
    #expect(
      try result {
        try $0.talk("A"); $0.ended("A", .failed)
      } == "recorded A failed"
    )
  }
}
