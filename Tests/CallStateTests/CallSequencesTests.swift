import Testing

@testable import CallState

/// Whole calls, line by line.
struct CallSequencesTests {
  @Test func incomingAccepted() throws {
    let script = CallScript()
    try script.incoming("A")
    script.decide(.incoming(CallScript.id("A"), .answer))
    try script.fulfil("A")
    script.decide(.end(CallScript.id("A")))
    try script.fulfil("A")
    #expect(
      script.take() == [
        "(o) A new", "execute 1", "perform answer A", "(o) A connected", "didActivate",
        "execute 1", "perform end A", "(o) A ended", "recorded A talked", "didDeactivate",
      ]
    )
  }

  @Test func incomingDeclined() throws {
    let script = CallScript()
    try script.incoming("A")
    script.decide(.incoming(CallScript.id("A"), .decline))
    try script.fulfil("A")
    #expect(
      script.take()
        == ["(o) A new", "execute 1", "perform end A", "(o) A ended", "recorded A declined"]
    )
  }

  @Test func callerGivesUp() throws {
    let script = CallScript()
    try script.incoming("A")
    script.ended("A")
    #expect(script.take() == ["(o) A new", "(o) A ended", "recorded A missed"])
  }

  @Test func ringTimeOut() throws {
    let script = CallScript()
    try script.incoming("A")
    script.wait(60)
    try script.fulfil("A")
    #expect(
      script.take()
        == ["(o) A new", "execute 1", "perform end A", "(o) A ended", "recorded A missed"]
    )
  }

  @Test func answerThatTheAppNeverAnswers() throws {
    let script = CallScript()
    try script.incoming("A")
    script.decide(.incoming(CallScript.id("A"), .answer))
    script.wait(60)
    try script.fulfil("A")
    #expect(
      script.take() == [
        "(o) A new", "execute 1", "perform answer A", "timedOut answer A", "execute 1",
        "perform end A", "(o) A ended", "recorded A failed",
      ]
    )
  }

  @Test func outgoingConnected() throws {
    let script = CallScript()
    try script.start("A")
    try script.fulfil("A")
    script.connecting("A")
    script.connected("A")
    #expect(
      script.take() == [
        "(o) A new, outgoing", "execute 1", "perform start A", "didActivate", "(o) A connected",
      ]
    )
  }

  @Test func outgoingRemoteBusy() throws {
    let script = CallScript()
    try script.start("A")
    try script.fulfil("A")
    script.ended("A", .unanswered)
    #expect(
      script.take() == [
        "(o) A new, outgoing", "execute 1", "perform start A", "didActivate", "(o) A ended",
        "recorded A unanswered", "didDeactivate",
      ]
    )
  }

  @Test func secondIncomingHoldAndAccept() throws {
    let script = CallScript()
    try script.talk("A")
    try script.incoming("B")
    script.decide(.incoming(CallScript.id("B"), .holdAndAnswer))
    try script.fulfil("A")
    try script.fulfil("B")
    #expect(
      script.take() == [
        "(o) B new", "execute 2", "perform hold A", "perform answer B", "(o) A held",
        "didDeactivate", "(o) B connected", "didActivate",
      ]
    )
  }

  @Test func secondIncomingEndAndAccept() throws {
    let script = CallScript()
    try script.talk("A")
    try script.incoming("B")
    script.decide(.incoming(CallScript.id("B"), .endAndAnswer))
    try script.fulfil("A")
    try script.fulfil("B")
    #expect(
      script.take() == [
        "(o) B new", "execute 2", "perform end A", "perform answer B", "(o) A ended",
        "recorded A talked", "didDeactivate", "(o) B connected", "didActivate",
      ]
    )
  }

  @Test func twoStartsWithALimitOfOne() throws {
    let script = CallScript(groups: 1)
    try script.start("A")
    script.take()
    #expect(throws: TransactionRefusal.maximumCallGroupsReached) { try script.start("B") }
    #expect(script.take().isEmpty && script.phase("A") == .starting)
  }
}
