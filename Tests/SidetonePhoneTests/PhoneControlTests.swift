import Foundation
import MediaCore
import RealTime
import Testing

@testable import SIPSignalling
@testable import SidetonePhone

/// Several calls of one phone: conferences, capacity, and events that come too late.
struct PhoneControlTests {
  private let start = MonotonicInstant(nanoseconds: 0)
  private let uuids = (0..<3).map { _ in UUID() }

  private func control() -> PhoneControl {
    var control = PhoneControl(maximumCalls: 3)
    for (number, uuid) in uuids.enumerated() {
      control.add(PhoneCall(outgoing: uuid, to: "sip:\(number)@10.0.0.2", .unknown))
      for event: PhoneCallEvent in [.invited(SIPCallID(rawValue: number), by: .udp), .established] {
        _ = control.handle(event, of: uuid, at: start)
      }
    }
    return control
  }

  private func conferences(_ orders: [PhoneControl.Order]) -> [UUID: Int] {
    var conferences: [UUID: Int] = [:]
    for order in orders {
      if case .setConference(let number) = order.effect { conferences[order.call] = number }
    }
    return conferences
  }

  @Test func joinedCallsShareAConference() {
    var control = control()
    let orders = control.setGroup(uuids[1], with: uuids[0])
    let joined = conferences(orders)
    #expect(joined[uuids[0]] == joined[uuids[1]] && joined[uuids[0]] != 0)
    #expect(orders.suffix(2).map(\.effect) == [.tell(.joined(uuids[1], with: uuids[0])), .fulfill])
    #expect(control.calls[2].conference == 0)
  }

  @Test func aConferenceOfOneIsDissolved() {
    var control = control()
    _ = control.setGroup(uuids[1], with: uuids[0])
    _ = control.setGroup(uuids[2], with: uuids[0])
    let first = control.handle(.perform(.end), of: uuids[2], at: start)
    #expect(conferences(first) == [uuids[2]: 0])
    let second = control.setGroup(uuids[1], with: nil)
    #expect(conferences(second) == [uuids[1]: 0, uuids[0]: 0])
  }

  @Test func movingToAnotherConferenceDissolvesTheFormer() {
    var control = control()
    _ = control.setGroup(uuids[1], with: uuids[0])
    let orders = control.setGroup(uuids[1], with: uuids[2])
    #expect(conferences(orders)[uuids[0]] == 0)
    #expect(control[uuids[1]]?.conference == control[uuids[2]]?.conference)
  }

  @Test func aCallJoinsNeitherItselfNorOneThatHasEnded() {
    var control = control()
    #expect(control.setGroup(uuids[0], with: uuids[0]).map(\.effect) == [.fail])
    _ = control.handle(.perform(.end), of: uuids[1], at: start)
    #expect(control.setGroup(uuids[0], with: uuids[1]).map(\.effect) == [.fail])
  }

  @Test func aCallerBeyondTheMaximumFindsNoRoom() {
    var control = control()
    #expect(!control.hasRoom(forKnown: false))
    _ = control.handle(.signallingEnded(.remoteHangUp), of: uuids[0], at: start)
    #expect(control.hasRoom(forKnown: false))
  }

  @Test func strangersWhoRingLeaveRoomForAKnownCaller() {
    var control = control()
    _ = control.handle(.signallingEnded(.remoteHangUp), of: uuids[0], at: start)
    let stranger = UUID()
    var call = PhoneCall(
      incoming: stranger,
      from: "sip:mallory@10.0.0.3",
      sip: SIPCallID(rawValue: 10),
      ringsUntil: start.advanced(byNanoseconds: 60_000_000_000),
      .unknown
    )
    call.isByStranger = true
    control.add(call)
    #expect(!control.hasRoom(forKnown: false) && control.hasRoom(forKnown: true))
    _ = control.handle(.accepted, of: stranger, at: start)
    #expect(!control.hasRoom(forKnown: true), "a stranger who is answered is a caller like others")
  }

  // The INVITE of a call that was ended meanwhile reaches the far side: it must not ring on.
  @Test func anInvitationOfACallThatHasEndedIsCancelled() {
    var control = control()
    _ = control.handle(.perform(.end), of: uuids[0], at: start)
    let late = control.handle(.invited(SIPCallID(rawValue: 9), by: .udp), of: uuids[0], at: start)
    #expect(late.map(\.effect) == [.hangUp(SIPCallID(rawValue: 9), as: .declined), .fail])
    #expect(control.handle(.perform(.end), of: uuids[0], at: start).map(\.effect) == [.fulfill])
    #expect(control.handle(.perform(.answer), of: uuids[0], at: start).map(\.effect) == [.fail])
  }

  @Test func theWarningOfOrdinarySchedulingComesOnceAndNotAtOnce() {
    var control = control()
    let early = start.advanced(byNanoseconds: 4_000_000_000)
    let late = start.advanced(byNanoseconds: 6_000_000_000)
    #expect(control.noteScheduling(.ordinary, at: early) == nil)
    #expect(control.noteScheduling(.realTime, at: late) == nil)
    #expect(control.noteScheduling(.ordinary, at: late) != nil)
    #expect(control.noteScheduling(.ordinary, at: late) == nil)
  }

  private func replacement(
    of number: Int,
    in control: PhoneControl,
    isNameProven: Bool = true,
    by newcomer: UUID = UUID(),
    _ media: NegotiatedMedia? = nil
  ) -> PhoneControl.Replacement? {
    let replaced = ReplacedCall(id: SIPCallID(rawValue: number), isNameProven: isNameProven)
    return control.replacement(of: replaced, by: newcomer, media)
  }

  /// A caller who may have learned a call's name elsewhere does not replace it without the user's
  /// consent.
  @Test func userIsAskedAboutAReplacementThatAnybodyCouldAskFor() throws {
    let control = control()
    #expect(try #require(replacement(of: 0, in: control)).asks == false)
    #expect(try #require(replacement(of: 0, in: control, isNameProven: false)).asks)
  }

  @Test func whatTakesACallsPlaceKeepsItsMuteAndItsConference() throws {
    var control = control()
    _ = control.setGroup(uuids[1], with: uuids[0])
    _ = control.handle(.perform(.setMuted(true)), of: uuids[0], at: start)
    let member = try #require(replacement(of: 0, in: control))
    #expect(member.isMuted && !member.wasHeld && member.others == [uuids[1]])
    _ = control.handle(.perform(.setHeld(true)), of: uuids[2], at: start)
    let held = try #require(replacement(of: 2, in: control))
    #expect(held.wasHeld && !held.isMuted && held.others.isEmpty)
    #expect(replacement(of: 9, in: control) == nil)
  }

  @Test func aCallIsGivenBackOnlyWhileNoOtherOneIsActive() {
    var control = control()
    for uuid in uuids.dropFirst() {
      _ = control.handle(.perform(.setHeld(true)), of: uuid, at: start)
    }
    #expect(control.active == uuids[0] && !control.mayResume(uuids[1]))
    _ = control.handle(.perform(.setHeld(true)), of: uuids[0], at: start)
    #expect(control.active == nil && control.mayResume(uuids[1]))
  }

  @Test func otherCallersGoOnRingingWhenOneIsAnswered() {
    var control = control()
    let callers = [UUID(), UUID()]
    for (number, caller) in callers.enumerated() {
      control.add(
        PhoneCall(
          incoming: caller,
          from: "sip:\(number)@10.0.0.3",
          sip: SIPCallID(rawValue: 10 + number),
          ringsUntil: start.advanced(byNanoseconds: 60_000_000_000),
          .unknown
        )
      )
    }
    _ = control.handle(.perform(.setHeld(true)), of: uuids[1], at: start)
    #expect(control.callsToEnd(before: callers[0]) == [uuids[0], uuids[2]])
  }
}
