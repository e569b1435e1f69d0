import MediaCore
import Testing

@testable import SIPRules

struct FarSidePresenceTests {
  private var presence = FarSidePresence()

  private func instant(_ seconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: seconds * 1_000_000_000)
  }

  private mutating func note(
    _ status: Int?,
    isHeld: Bool = false,
    after seconds: Int64 = 0
  ) -> FarSidePresence.Conclusion {
    presence.note(status, isHeld: isHeld, at: instant(seconds))
  }

  @Test(arguments: [404, 410, 481]) mutating func farSideThatKnowsNothingIsGone(status: Int) {
    #expect(note(status) == .isGone)
  }

  /// A phone that takes no other call, or a proxy that is busy, says nothing of this one; nor does
  /// it show that the far side is there.
  @Test(arguments: [480, 503]) mutating func callOutlivesARefusal(status: Int) {
    #expect((0..<60).allSatisfy { note(status, after: $0) == .none })
    #expect((0..<2_000).allSatisfy { note(status, isHeld: true, after: $0) == .none })
    #expect(!FarSidePresence.isPresent(status) && FarSidePresence.isPresent(486))
  }

  @Test(arguments: [477, 502]) mutating func serverMayLoseAConnectionOnce(status: Int) {
    #expect(note(status) == .none)
    #expect(note(200) == .none)
    #expect(note(status) == .none)
    #expect(note(status) == .isGone)
  }

  @Test mutating func mediaIsRevivedWhileTheFarSideLivesUnheard() {
    // Less and less often: it may hold the call in a way of its own.
    let revivals = (Int64(1)...200).filter { note(200, after: $0) == .isUnheard }
    #expect(revivals == [2, 6, 14, 30, 62, 126])
    // Another silence, later.
    let others = (Int64(300)...310).filter { note(200, after: $0) == .isUnheard }
    #expect(others == [301, 305])
  }

  @Test mutating func nothingIsRevivedDuringAHold() {
    #expect((0..<6).allSatisfy { _ in note(200, isHeld: true) == .none })
  }

  @Test mutating func tenMinutesWithoutAnAnswerEndTheCall() {
    #expect((0..<600).allSatisfy { note(nil, isHeld: true, after: $0) == .none })
    #expect(note(nil, isHeld: true, after: 600) == .isGone)
  }

  @Test mutating func silenceEndsNothingWithoutAHold() {
    #expect((0..<2_000).allSatisfy { note(nil, after: $0) == .none })
  }

  @Test mutating func eachHoldHasItsOwnSilence() {
    #expect(note(nil, isHeld: true, after: 0) == .none)
    presence.noteHold()
    presence.noteHold()
    #expect(note(nil, isHeld: true, after: 900) == .none)
    #expect(note(nil, isHeld: true, after: 1_500) == .isGone)
  }

  /// A server's report that it got no answer does not count as one.
  @Test(arguments: [408, 504]) mutating func serverWithoutAnAnswerIsNone(status: Int) {
    #expect(note(status, isHeld: true, after: 0) == .none)
    #expect(note(status, isHeld: true, after: 600) == .isGone)
  }

  @Test mutating func anyAnswerBreaksTheSilence() {
    #expect(note(nil, isHeld: true, after: 0) == .none)
    #expect(note(405, isHeld: true, after: 500) == .none)
    #expect(note(nil, isHeld: true, after: 700) == .none)
    #expect(note(nil, isHeld: true, after: 1_299) == .none)
    #expect(note(nil, isHeld: true, after: 1_300) == .isGone)
  }
}
