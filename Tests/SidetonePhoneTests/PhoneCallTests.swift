import CallKit
import CallSecurity
import Foundation
import MediaCore
import Testing

@testable import SIPSignalling
@testable import SidetonePhone
@testable import VoiceStream

/// The table of `PhoneCall`, and the actions of its far side, in virtual time.
struct PhoneCallTests {
  private let uuid = UUID()
  private let sip = SIPCallID(rawValue: 7)

  private func seconds(_ count: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(count * 1e9))
  }

  private func outgoing() -> PhoneCall {
    PhoneCall(outgoing: uuid, to: "sip:bob@10.0.0.2", .unknown)
  }

  private func incoming() -> PhoneCall {
    PhoneCall(incoming: uuid, from: "sip:bob@10.0.0.2", sip: sip, ringsUntil: seconds(60), .unknown)
  }

  /// A call that was answered after one second and is connected.
  private func established() -> PhoneCall {
    var call = outgoing()
    for event: PhoneCallEvent in [.invited(sip, by: .udp), .agreed(.opus()), .established] {
      _ = call.handle(event, at: seconds(1))
    }
    return call
  }

  private func ended(_ end: CallEnd) -> [PhoneCallEffect] {
    [.release(end), .tell(.ended(uuid, end))]
  }

  private func isOver(_ effects: [PhoneCallEffect]) -> Bool {
    effects.contains { if case .release = $0 { true } else { false } }
  }

  // MARK: The way to an established call

  @Test func anOutgoingCallInvitesRingsAndConnects() {
    var call = outgoing()
    let request = call.handle(.perform(.start(uri: "sip:bob@10.0.0.2")), at: seconds(0))
    #expect(request == [.invite(uri: "sip:bob@10.0.0.2", Attempt())])
    #expect(call.handle(.invited(sip, by: .udp), at: seconds(0)) == [.fulfill])
    #expect(call.handle(.progressed, at: seconds(1)) == [.reportConnecting, .tell(.ringing(uuid))])
    #expect(call.handle(.agreed(.opus()), at: seconds(2)) == [.agree(.opus())])
    #expect(
      call.handle(.established, at: seconds(2))
        == [
          .reportConnected, .tell(.connected(uuid, to: "sip:bob@10.0.0.2")),
          .tell(.secured(uuid, .open)),
        ]
    )
    #expect(call.phase == .established(since: seconds(2)))
  }

  @Test func anIncomingCallIsAcceptedAndConnects() {
    var call = incoming()
    #expect(call.handle(.perform(.answer), at: seconds(5)) == [.accept(sip)])
    #expect(call.handle(.accepted, at: seconds(5)) == [.fulfill])
    #expect(call.phase == .answering)
    let effects = call.handle(.established, at: seconds(6))
    #expect(effects == [.tell(.connected(uuid, to: "sip:bob@10.0.0.2"))])
  }

  @Test func aSecondConfirmationOfTheDialogConnectsNothing() {
    var call = established()
    #expect(call.handle(.established, at: seconds(9)).isEmpty)
    #expect(call.phase == .established(since: seconds(1)))
  }

  @Test func aCallIsNeitherStartedNorAnsweredTwice() {
    var outgoing = established()
    #expect(outgoing.handle(.perform(.start(uri: "sip:x")), at: seconds(2)) == [.fail])
    var incoming = incoming()
    _ = incoming.handle(.perform(.answer), at: seconds(2))
    _ = incoming.handle(.accepted, at: seconds(2))
    #expect(incoming.handle(.perform(.answer), at: seconds(3)) == [.fail])
  }

  @Test func anInvitationThatCannotBeSentEndsTheCall() {
    var call = outgoing()
    let effects = call.handle(.inviteFailed(.failed("no route")), at: seconds(0))
    #expect(effects == [.fail] + ended(.failed("no route")))
  }

  /// A call whose first INVITE has failed, and that is to be invited in another way.
  private func invitedAgain(isHeld: Bool = false) -> PhoneCall {
    var call = outgoing()
    _ = call.handle(.perform(.start(uri: "sip:bob@10.0.0.2")), at: seconds(0))
    #expect(call.handle(.invited(sip, by: .tls), at: seconds(0)) == [.fulfill])
    if isHeld { _ = call.handle(.perform(.setHeld(true)), at: seconds(1)) }
    _ = call.handle(.signallingEnded(.unreachable("broken")), at: seconds(1))
    #expect(call.phase == .dialing)
    return call
  }

  // The start action was fulfilled by the first one, so the call system takes the call as begun.
  @Test func aSecondInvitationThatCannotBeSentIsReportedToTheCallSystem() {
    var call = invitedAgain()
    let effects = call.handle(.inviteFailed(.failed("no route")), at: seconds(2))
    #expect(effects == [.fail, .reportEnded(.failed)] + ended(.failed("no route")))
  }

  @Test func aHoldIsSignalledInTheSecondDialogToo() {
    var call = invitedAgain(isHeld: true)
    let next = SIPCallID(rawValue: 8)
    let effects = call.handle(.invited(next, by: .udp), at: seconds(2))
    #expect(effects == [.fulfill, .sendHold(next, true)])
  }

  // Another call was taken meanwhile; there is nobody yet who could agree to the resume.
  @Test func aCallThatIsResumedWhileItRingsRingsOn() {
    var call = outgoing()
    _ = call.handle(.invited(sip, by: .udp), at: seconds(0))
    _ = call.handle(.progressed, at: seconds(1))
    _ = call.handle(.perform(.setHeld(true)), at: seconds(2))
    _ = call.handle(.perform(.setHeld(false)), at: seconds(3))
    #expect(call.handle(.timePassed, at: seconds(100)).isEmpty)
  }

  // The call system ends a call whose answer failed; the user reads the first reason.
  @Test func aFailedAnswerGivesItsReasonAtTheEnd() {
    var call = incoming()
    #expect(call.handle(.acceptFailed(.failed("the port is in use")), at: seconds(1)) == [.fail])
    let effects = call.handle(.perform(.end), at: seconds(1))
    #expect(
      effects
        == [.hangUp(sip, as: .unavailable)] + ended(.failed("the port is in use"))
        + [.fulfill]
    )
  }

  // MARK: Ends

  @Test func hangingUpIsCleanOnceTheCallIsEstablished() {
    var call = established()
    let effects = call.handle(.perform(.end), at: seconds(2))
    #expect(
      effects == [.hangUp(sip, as: .declined)] + ended(.hungUp) + [.fulfill]
    )
  }

  @Test(arguments: [(59.0, SIPRefusal.declined), (60.0, .unavailable)])
  func anUnansweredCallIsNotDeclinedForOtherDevices(second: Double, refusal: SIPRefusal) {
    var call = incoming()
    let effects = call.handle(.perform(.end), at: seconds(second))
    #expect(effects.first == .hangUp(sip, as: refusal))
  }

  @Test func theFarSidesHangUpIsCleanAndSendsNothing() {
    var call = established()
    let effects = call.handle(.signallingEnded(.remoteHangUp), at: seconds(2))
    #expect(effects == [.reportEnded(.remoteEnded)] + ended(.hungUpByFarSide))
  }

  @Test func aRefusedCallIsUnanswered() {
    var call = outgoing()
    _ = call.handle(.invited(sip, by: .udp), at: seconds(0))
    let busy = SIPEndReason.refused(code: 486, phrase: "Busy Here")
    let effects = call.handle(.signallingEnded(busy), at: seconds(1))
    #expect(effects == [.reportEnded(.unanswered)] + ended(.busy(code: 486)))
  }

  @Test func anUnreachableHostEndsACallThatHasNoAnswer() {
    var call = outgoing()
    _ = call.handle(.invited(sip, by: .udp), at: seconds(0))
    let effects = call.handle(.unreachable("refused"), at: seconds(1))
    #expect(
      effects == [.hangUp(sip, as: .declined), .reportEnded(.failed)]
        + ended(.unreachable("refused"))
    )
    // A late refusal does not end a call that was answered, even if it is held.
    var answered = established()
    #expect(answered.handle(.unreachable("refused"), at: seconds(1)).isEmpty)
    _ = answered.handle(.perform(.setHeld(true)), at: seconds(1))
    #expect(answered.handle(.unreachable("refused"), at: seconds(1)).isEmpty)
  }

  @Test func nothingComesOutOfACallThatHasEnded() {
    var call = established()
    _ = call.handle(.perform(.end), at: seconds(2))
    let late: [PhoneCallEvent] = [
      .agreed(.opus()), .established, .signallingEnded(.remoteHangUp),
      .mediaFailed(.failed("late")), .reset,
      .timePassed,
    ]
    for event in late { #expect(call.handle(event, at: seconds(3)).isEmpty) }
  }

  // A ringing call wants no devices, a held one has none.
  @Test func aFailedActivationNamesTheEndOfAudibleCallsAlone() {
    for (call, expected) in [
      (incoming(), CallEnd.cancelled), (established(), .failed("the microphone is busy")),
    ] {
      var call = call
      #expect(call.handle(.activationFailed("the microphone is busy"), at: seconds(2)).isEmpty)
      let effects = call.handle(.perform(.end), at: seconds(3))
      #expect(effects.contains(.tell(.ended(uuid, expected))))
    }
  }

  // MARK: Holds

  @Test func aHoldEndsTheAgreementAtOnceAndTellsTheFarSide() {
    var call = established()
    let effects = call.handle(.perform(.setHeld(true)), at: seconds(2))
    #expect(effects == [.agree(nil), .sendHold(sip, true), .tell(.held(uuid)), .fulfill])
    // The answer to the hold starts no voice.
    #expect(call.handle(.agreed(.opus(maySend: false)), at: seconds(3)).isEmpty)
  }

  @Test func theVoiceOfAResumedCallWaitsForTheAnswer() {
    var call = established()
    _ = call.handle(.perform(.setHeld(true)), at: seconds(2))
    let effects = call.handle(.perform(.setHeld(false)), at: seconds(3))
    #expect(effects == [.agree(nil), .sendHold(sip, false), .tell(.resumed(uuid)), .fulfill])
    #expect(call.handle(.agreed(.opus()), at: seconds(4)) == [.agree(.opus())])
  }

  /// A refused re-INVITE leaves the session as it was (RFC 3261 section 14.1).
  @Test func aHoldThatIsRefusedIsThisSidesAlone() {
    var call = established()
    _ = call.handle(.perform(.setHeld(true)), at: seconds(2))
    #expect(call.handle(.offerRefused, at: seconds(3)).isEmpty, "it holds")
    _ = call.handle(.perform(.setHeld(false)), at: seconds(4))
    #expect(call.handle(.offerRefused, at: seconds(5)) == [.agree(.opus())])
    #expect(call.handle(.offerRefused, at: seconds(6)).isEmpty)
    for second in 7...60 {
      #expect(call.handle(.timePassed, at: seconds(Double(second))).isEmpty, "it stands")
    }
    // A hold that was taken is not undone by the refusal of its end.
    _ = call.handle(.perform(.setHeld(true)), at: seconds(61))
    _ = call.handle(.agreed(.opus(maySend: false)), at: seconds(62))
    _ = call.handle(.perform(.setHeld(false)), at: seconds(63))
    let former = NegotiatedMedia.opus(maySend: false)
    #expect(call.handle(.offerRefused, at: seconds(64)) == [.agree(former)])
  }

  @Test func theFarSidesHoldAndResumeAreToldOnce() {
    var call = established()
    let inactive = NegotiatedMedia.opus(maySend: false, mayReceive: false)
    let held = call.handle(.agreed(inactive), at: seconds(2))
    #expect(held == [.tell(.heldByFarSide(uuid)), .agree(inactive)])
    #expect(call.handle(.agreed(inactive), at: seconds(3)) == [.agree(inactive)])
    let resumed = call.handle(.agreed(.opus()), at: seconds(4))
    #expect(resumed == [.tell(.resumedByFarSide(uuid)), .agree(.opus())])
  }

  // Both sides held; ours resumes. The first answer may still be the one to our hold.
  @Test func aLastingHoldOfTheFarSideIsToldASecondAfterTheResume() {
    var call = established()
    let inactive = NegotiatedMedia.opus(maySend: false, mayReceive: false)
    _ = call.handle(.perform(.setHeld(true)), at: seconds(2))
    _ = call.handle(.perform(.setHeld(false)), at: seconds(3))
    #expect(call.handle(.agreed(inactive), at: seconds(3.1)) == [.agree(inactive)])
    #expect(call.handle(.timePassed, at: seconds(3.9)).isEmpty)
    #expect(call.handle(.timePassed, at: seconds(4.1)) == [.tell(.heldByFarSide(uuid))])
    #expect(call.handle(.timePassed, at: seconds(5)).isEmpty)
  }

  @Test func aResumeThatIsNeverAnsweredEndsTheCall() {
    var call = established()
    _ = call.handle(.perform(.setHeld(true)), at: seconds(2))
    _ = call.handle(.perform(.setHeld(false)), at: seconds(10))
    #expect(call.handle(.timePassed, at: seconds(44)).isEmpty)
    let effects = call.handle(.timePassed, at: seconds(46))
    #expect(
      effects == [.hangUp(sip, as: .declined), .reportEnded(.failed)]
        + ended(.lost("the far side does not resume the call"))
    )
  }

  // The user may try again; what fails until the hold is known is not news.
  @Test func aResumeWhoseVoiceCannotStartLeavesTheCallOnHold() {
    var call = established()
    _ = call.handle(.perform(.setHeld(true)), at: seconds(2))
    _ = call.handle(.perform(.setHeld(false)), at: seconds(3))
    #expect(call.handle(.agreed(.opus()), at: seconds(4)) == [.agree(.opus())])
    let effects = call.handle(.voiceFailed("no descriptor"), at: seconds(4))
    #expect(effects == [.tell(.error("no descriptor")), .hold])
    #expect(call.handle(.voiceFailed("no descriptor"), at: seconds(4)).isEmpty)
    let hold = call.handle(.perform(.setHeld(true)), at: seconds(4))
    #expect(hold == [.agree(nil), .sendHold(sip, true), .tell(.held(uuid)), .fulfill])
    _ = call.handle(.perform(.setHeld(false)), at: seconds(5))
    #expect(call.handle(.voiceFailed("no descriptor"), at: seconds(5)) == effects)
  }

  @Test func aCallThatCannotBeHeldAgainEnds() {
    var call = established()
    _ = call.handle(.perform(.setHeld(true)), at: seconds(2))
    _ = call.handle(.perform(.setHeld(false)), at: seconds(3))
    _ = call.handle(.voiceFailed("no descriptor"), at: seconds(4))
    let effects = call.handle(.mediaFailed(.failed("it cannot be held")), at: seconds(4))
    #expect(
      effects == [.hangUp(sip, as: .declined), .reportEnded(.failed)]
        + ended(.failed("it cannot be held"))
    )
  }

  @Test(arguments: [false, true])
  func aVoiceThatCannotGoOnEndsTheCall(wasResumed: Bool) {
    var call = established()
    if wasResumed {
      _ = call.handle(.perform(.setHeld(true)), at: seconds(2))
      _ = call.handle(.perform(.setHeld(false)), at: seconds(3))
      _ = call.handle(.agreed(.opus()), at: seconds(4))
      _ = call.handle(.mediaReported(statistics(silence: 0)), at: seconds(5))
    }
    let effects = call.handle(.voiceFailed("no descriptor"), at: seconds(6))
    #expect(
      effects == [.hangUp(sip, as: .declined), .reportEnded(.failed)]
        + ended(.failed("no descriptor"))
    )
  }

  // MARK: Digits and media

  @Test func aFarSideThatRingsForEverIsGivenUp() {
    var call = outgoing()
    _ = call.handle(.perform(.start(uri: "sip:bob@10.0.0.2")), at: seconds(0))
    _ = call.handle(.invited(sip, by: .udp), at: seconds(0))
    _ = call.handle(.progressed, at: seconds(100))
    #expect(call.handle(.timePassed, at: seconds(279)).isEmpty)
    let effects = call.handle(.timePassed, at: seconds(281))
    #expect(effects.prefix(2) == [.hangUp(sip, as: .declined), .reportEnded(.unanswered)])
    #expect(effects.dropFirst(2) == ended(.noAnswer)[...])
  }

  @Test func aFarSideIsAskedDuringAHoldWhetherItIsThere() {
    var call = established()
    #expect(call.handle(.timePassed, at: seconds(100)).isEmpty)
    _ = call.handle(.perform(.setHeld(true)), at: seconds(100))
    #expect(call.handle(.timePassed, at: seconds(101)).isEmpty)
    #expect(call.handle(.timePassed, at: seconds(131)).isEmpty)
    #expect(call.handle(.timePassed, at: seconds(132)) == [.ask(sip)])
    #expect(call.handle(.timePassed, at: seconds(133)).isEmpty)
    #expect(call.handle(.timePassed, at: seconds(163)) == [.ask(sip)])
  }

  // It sends no voice, so no silence shows that it has gone.
  @Test func aFarSideThatOnlyListensIsAskedToo() {
    var call = established()
    _ = call.handle(.agreed(.opus(mayReceive: false)), at: seconds(2))
    #expect(call.handle(.timePassed, at: seconds(100)).isEmpty)
    #expect(call.handle(.timePassed, at: seconds(131)) == [.ask(sip)])
  }

  @Test func digitsNeedATalkingCallAndAFarSideThatTakesThem() {
    var call = established()
    #expect(
      call.handle(.perform(.playDTMF([1, 2])), at: seconds(2)) == [.sendDigits([1, 2]), .fulfill]
    )
    _ = call.handle(.agreed(.opus(takesDigits: false)), at: seconds(3))
    #expect(call.handle(.perform(.playDTMF([1])), at: seconds(3)).last == .fail)
    _ = call.handle(.agreed(.opus()), at: seconds(4))
    _ = call.handle(.perform(.setHeld(true)), at: seconds(4))
    #expect(call.handle(.perform(.playDTMF([1])), at: seconds(4)) == [.fail])
  }

  private func statistics(
    silence: Double,
    refusals: Int = 0,
    hasLeft: Bool = false,
    packets: Int64 = 1
  ) -> StreamStatistics {
    var statistics = StreamStatistics()
    statistics.packetsReceived = packets
    statistics.silenceNanoseconds = Int64(silence * 1e9)
    statistics.refusals = refusals
    statistics.isFarGone = hasLeft
    return statistics
  }

  @Test func aSilentFarSideEndsTheCallUnlessItHoldsIt() {
    let silent = PhoneCallEvent.mediaReported(statistics(silence: 31))
    var call = established()
    let asking = call.handle(.mediaReported(statistics(silence: 29)), at: seconds(30))
    #expect(asking == call.sip.map { [.ask($0)] })
    #expect(call.handle(silent, at: seconds(32)).contains(.reportEnded(.failed)))
    var held = established()
    _ = held.handle(.agreed(.opus(maySend: false)), at: seconds(2))
    #expect(held.handle(silent, at: seconds(40)).isEmpty)
  }

  // A relay sends nothing in place of a far side that has gone; a server on the way may know.
  @Test func aSilentFarSideIsAskedForAndMayBeGone() throws {
    var call = established()
    let sip = try #require(call.sip)
    #expect(call.handle(.mediaReported(statistics(silence: 1.9)), at: seconds(5)).isEmpty)
    #expect(call.handle(.mediaReported(statistics(silence: 2.1)), at: seconds(5)) == [.ask(sip)])
    // A far side that was never heard may have misunderstood the offer.
    let mute = call.handle(.mediaReported(statistics(silence: 1, packets: 0)), at: seconds(5))
    #expect(mute == [.ask(sip)])
    let effects = call.handle(.signallingEnded(.gone), at: seconds(6))
    #expect(effects.last == .tell(.ended(uuid, .lost("the far side is gone"))))
    #expect(effects.contains(.reportEnded(.remoteEnded)))
  }

  // A host that refuses packets has no program left, even if it holds the call.
  @Test func aFarSideWhosePortIsClosedEndsTheCallAfterFourSeconds() {
    var call = established()
    _ = call.handle(.agreed(.opus(maySend: false)), at: seconds(2))
    let early = statistics(silence: 1, refusals: 100)
    #expect(call.handle(.mediaReported(early), at: seconds(3)).isEmpty)
    let asking = statistics(silence: 3, refusals: 100)
    #expect(call.handle(.mediaReported(asking), at: seconds(5)) == call.sip.map { [.ask($0)] })
    let late = statistics(silence: 5, refusals: 100)
    #expect(call.handle(.mediaReported(late), at: seconds(7)).contains(.reportEnded(.failed)))
  }

  // An announcement may end, and the server ring at another phone.
  @Test func earlyMediaWhosePortIsClosedEndsNothing() {
    var call = outgoing()
    _ = call.handle(.invited(sip, by: .udp), at: seconds(0))
    _ = call.handle(.agreed(.opus()), at: seconds(1))
    let closed = PhoneCallEvent.mediaReported(statistics(silence: 20, refusals: 100))
    #expect(call.handle(closed, at: seconds(22)).isEmpty)
    _ = call.handle(.established, at: seconds(23))
    // What was silent before the answer counts from there.
    #expect(!isOver(call.handle(closed, at: seconds(24))))
    #expect(call.handle(closed, at: seconds(28)).contains(.reportEnded(.failed)))
  }

  // RFC 3550 section 6.6: the source leaves. A hold or a new source would follow at once.
  @Test func aGoodbyeThatNothingFollowsEndsTheCallAfterFiveSeconds() {
    var call = established()
    let early = statistics(silence: 4, hasLeft: true)
    #expect(!isOver(call.handle(.mediaReported(early), at: seconds(6))))
    var held = call
    let late = PhoneCallEvent.mediaReported(statistics(silence: 6, hasLeft: true))
    #expect(
      call.handle(late, at: seconds(8)).last
        == .tell(.ended(uuid, .lost("the far side has ended its voice")))
    )
    _ = held.handle(.agreed(.opus(maySend: false, mayReceive: false)), at: seconds(7))
    #expect(held.handle(late, at: seconds(8)).isEmpty)
  }

  /// Jami holds a call by a new port that is closed; other phones by a goodbye, or by silence.
  @Test(arguments: [(100, false), (0, true), (0, false)])
  func aFarSideWhoseSignallingAnswersIsNotGivenUp(refusals: Int, hasLeft: Bool) {
    var call = established()
    func report(_ silence: Double, at second: Double) -> [PhoneCallEffect] {
      let figures = statistics(silence: silence, refusals: refusals, hasLeft: hasLeft)
      return call.handle(.mediaReported(figures), at: seconds(second))
    }
    let asking = call.sip.map { [PhoneCallEffect.ask($0)] }
    #expect(report(3, at: 10) == asking)
    for second in 4..<600 {
      #expect(call.handle(.present, at: seconds(Double(second) + 6.5)).isEmpty)
      #expect(report(Double(second), at: Double(second) + 7) == asking)
    }
    #expect(report(601, at: 608).contains(.reportEnded(.failed)))
    // An answer of before says nothing.
    call = established()
    _ = call.handle(.present, at: seconds(5))
    #expect(report(31, at: 40).contains(.reportEnded(.failed)))
  }

  @Test func digitsForAFarSideThatHoldsTheCallFail() {
    var call = established()
    _ = call.handle(.agreed(.opus(maySend: false, mayReceive: false)), at: seconds(2))
    #expect(call.handle(.perform(.playDTMF([1])), at: seconds(3)).last == .fail)
    _ = call.handle(.agreed(.opus()), at: seconds(4))
    #expect(call.handle(.perform(.playDTMF([1])), at: seconds(5)) == [.sendDigits([1]), .fulfill])
  }
}
