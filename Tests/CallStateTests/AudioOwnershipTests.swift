import Testing

@testable import CallState

/// The table of `AudioOwnership`: the session changes one step at a time, whatever calls do
/// meanwhile.
struct AudioOwnershipTests {
  private let script = CallScript()

  init() { script.opensAudioAtOnce = false }

  @Test func theProviderIsToldWhenTheDevicesAreOpenAndNotBefore() throws {
    try script.start("A")
    try script.fulfil("A")
    #expect(script.control.audio == .activating(script.provider))
    #expect(!script.take().contains("didActivate"))
    script.audioActivated()
    #expect(script.take() == ["didActivate"])
    #expect(script.control.audio == .active(script.provider))
  }

  @Test func R88_aCallThatEndsMeanwhileGetsNeitherOfThePair() throws {
    try script.start("A")
    try script.fulfil("A")
    script.ended("A")
    #expect(script.control.audio == .activating(script.provider))
    script.take()
    script.audioActivated()
    #expect(script.take() == ["devices released"])
    #expect(script.control.audio == .inactive)
  }

  @Test func R32_aResetMeanwhileIsFollowedByNeitherOfThePair() throws {
    try script.start("A")
    try script.fulfil("A")
    script.reset()
    #expect(script.take().last == "reset")
    script.audioActivated()
    #expect(script.take() == ["devices released"])
  }

  // Nothing was activated, so nothing is deactivated; no call is left to be ended.
  @Test func aFailureAfterTheCallsEndConcernsNobody() throws {
    try script.start("A")
    try script.fulfil("A")
    script.ended("A")
    script.take()
    script.audioFailed()
    #expect(script.take().isEmpty && script.control.audio == .inactive)
  }

  @Test func aHoldAndAResumeMeanwhileChangeNothing() throws {
    try script.start("A")
    try script.fulfil("A")
    for isOnHold in [true, false] {
      try script.request(("A", .setHeld(isOnHold)))
      script.fulfilAll()
    }
    script.take()
    script.audioActivated()
    #expect(script.take() == ["didActivate"])
    #expect(script.control.audio == .active(script.provider))
  }

  @Test func theNextProviderFollowsOnceTheFirstHasBeenServed() throws {
    try script.start("A")
    try script.fulfil("A")
    script.ended("A")
    let other = script.control.addProvider(ProviderSettings())
    script.control.setHasDelegate(other, true)
    let start = StartRequest(handle: CallHandle(kind: .generic, value: "bob"))
    let request = ActionRequest(call: CallScript.id("B"), kind: .start(start))
    let action = try script.control.request([request], at: script.now)[0]
    script.control.answer(action.id, isFulfilled: true, at: script.now)
    #expect(script.control.audio == .activating(script.provider))
    script.take()
    script.audioActivated()
    #expect(script.take().last == "devices released")
    #expect(script.control.audio == .activating(other))
  }

  @Test func resultsThatWereNotAskedForChangeNothing() throws {
    script.audioActivated()
    script.audioFailed()
    #expect(script.take().isEmpty && script.control.audio == .inactive)
  }
}
