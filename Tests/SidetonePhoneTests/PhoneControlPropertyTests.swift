import CallKit
import Foundation
import MediaCore
import Simulation
import Testing

@testable import SIPSignalling
@testable import SidetonePhone
@testable import VoiceStream

/// Drives a phone's calls with random events of users, far sides, sessions and time, and checks the
/// invariants after each.
///
/// The seed is the argument; with it alone a failure repeats.
struct PhoneControlPropertyTests {
  private static let stepsPerSeed = 20_000

  /// One call as the outside world sees it, built from its effects alone.
  private struct Observed {
    var isReleased = false
    var isHeld = false
    var isHeldByFarSide = false
    var isConnected = false
    /// The dialog as libre has it: alive until it is hung up or reported as ended.
    var dialog: SIPCallID?
  }

  private struct World {
    var control = PhoneControl(maximumCalls: 4)
    var calls: [UUID: Observed] = [:]
    var generator: SeededGenerator
    var now = MonotonicInstant(nanoseconds: 0)
    var nextDialog = 0
    var actions = 0
    var answers = 0
    var ends = 0
    var faults: [String] = []

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func expect(_ condition: Bool, _ fault: String) {
      if !condition { faults.append(fault) }
    }

    mutating func makeDialog() -> SIPCallID {
      nextDialog += 1
      return SIPCallID(rawValue: nextDialog)
    }

    // MARK: Effects

    mutating func perform(_ orders: [PhoneControl.Order]) {
      for order in orders { perform(order.effect, on: order.call) }
    }

    private mutating func perform(_ effect: PhoneCallEffect, on uuid: UUID) {
      if calls[uuid]?.isReleased == true {
        let isAllowed = [.fulfill, .fail].contains(effect) || isEpilogue(effect, of: uuid)
        expect(isAllowed, "\(effect) after the end")
      }
      switch effect {
      case .invite:
        // It may fail, and the call may end before it has been sent.
        if Bool.random(using: &generator) { step() }
        let dialog = makeDialog()
        if Int.random(in: 0..<8, using: &generator) == 0 {
          handle(.inviteFailed(.unreachable("no route")), of: uuid)
        } else {
          let former = calls[uuid]?.dialog
          calls[uuid]?.dialog = dialog
          handle(.invited(dialog, by: .udp), of: uuid)
          if let former { calls[uuid]?.dialog = former }
        }
      case .accept:
        let fails = Int.random(in: 0..<8, using: &generator) == 0
        handle(fails ? .acceptFailed(.lost("gone")) : .accepted, of: uuid)
      case .fulfill, .fail:
        answers += 1
      case .hangUp(let sip, _):
        expect(calls[uuid]?.dialog == sip, "a dialog was hung up that has ended")
        calls[uuid]?.dialog = nil
      case .sendHold(let sip, _):
        expect(calls[uuid]?.dialog == sip, "a re-INVITE outside a dialog")
      case .ask(let sip):
        expect(calls[uuid]?.dialog == sip, "a question outside a dialog")
      case .agree(let media):
        expect(media == nil || calls[uuid]?.isHeld == false, "a voice in a held call")
        if media != nil, Int.random(in: 0..<50, using: &generator) == 0 {
          handle(.voiceFailed("no codec"), of: uuid)
        }
      case .hold:
        expect(calls[uuid]?.isHeld == false, "a held call is held once more")
        handle(.perform(.setHeld(true)), of: uuid)
      case .tell(let event):
        note(event, of: uuid)
      case .release:
        expect(calls[uuid]?.isReleased == false, "released twice")
        calls[uuid]?.isReleased = true
      case .reportConnected:
        expect(calls[uuid]?.isConnected == false, "connected twice")
      case .remember:
        expect(calls[uuid]?.isConnected == true, "somebody unheard is remembered")
      case .route, .mute, .sendDigits, .setConference, .reportConnecting, .reportEnded:
        break
      }
    }

    // The end is reported after the release, and a conference learns of it last.
    private func isEpilogue(_ effect: PhoneCallEffect, of uuid: UUID) -> Bool {
      switch effect {
      case .tell(.ended), .setConference: true
      case .hangUp: calls[uuid]?.dialog != nil
      default: false
      }
    }

    private mutating func note(_ event: PhoneEvent, of uuid: UUID) {
      switch event {
      case .held: calls[uuid]?.isHeld = true
      case .resumed: calls[uuid]?.isHeld = false
      case .heldByFarSide:
        expect(calls[uuid]?.isHeldByFarSide == false, "held twice by the far side")
        calls[uuid]?.isHeldByFarSide = true
      case .resumedByFarSide:
        expect(calls[uuid]?.isHeldByFarSide == true, "resumed by the far side without a hold")
        calls[uuid]?.isHeldByFarSide = false
      case .connected:
        expect(calls[uuid]?.isConnected == false, "connected twice")
        calls[uuid]?.isConnected = true
      case .ended(_, let end):
        expect(!end.isClean || calls[uuid]?.isConnected == true, "a clean end without a call")
        ends += 1
      default: break
      }
    }

    // MARK: Events

    mutating func handle(_ event: PhoneCallEvent, of uuid: UUID) {
      if case .perform = event { actions += 1 }
      perform(control.handle(event, of: uuid, at: now))
    }

    mutating func step() {
      now = now.advanced(byNanoseconds: Int64.random(in: 0..<2_000_000_000, using: &generator))
      guard let call = control.calls.randomElement(using: &generator),
        !control.hasRoom(forKnown: false) || Int.random(in: 0..<6, using: &generator) > 0
      else { return begin() }
      let uuid = call.uuid
      switch Int.random(in: 0..<18, using: &generator) {
      case 0: handle(.perform(.end), of: uuid)
      case 1: handle(.perform(.answer), of: uuid)
      case 2: handle(.perform(.start(uri: "sip:b@h")), of: uuid)
      case 3, 4: handle(.perform(.setHeld(Bool.random(using: &generator))), of: uuid)
      case 5: handle(.perform(.setMuted(Bool.random(using: &generator))), of: uuid)
      case 6: handle(.perform(.playDTMF([1])), of: uuid)
      case 7: handle(.progressed, of: uuid)
      case 8, 9, 10:
        let maySend = Bool.random(using: &generator)
        handle(.agreed(.opus(maySend: maySend, mayReceive: maySend)), of: uuid)
      case 11: handle(.established, of: uuid)
      case 12 where calls[uuid]?.dialog != nil:
        calls[uuid]?.dialog = nil
        handle(.signallingEnded(.remoteHangUp), of: uuid)
      case 13: handle(.unreachable("refused"), of: uuid)
      case 14: report(of: uuid)
      case 15:
        actions += 1
        let other = control.calls.randomElement(using: &generator)?.uuid
        perform(control.setGroup(uuid, with: Bool.random(using: &generator) ? other : nil))
      case 16 where Int.random(in: 0..<20, using: &generator) == 0:
        let isReset = Bool.random(using: &generator)
        perform(control.handle(isReset ? .reset : .activationFailed("busy"), at: now))
      default: perform(control.handle(.timePassed, at: now))
      }
    }

    private mutating func begin() {
      let uuid = UUID()
      var call = Observed()
      if Bool.random(using: &generator) {
        calls[uuid] = call
        control.add(PhoneCall(outgoing: uuid, to: "sip:b@h", .unknown))
      } else {
        let dialog = makeDialog()
        call.dialog = dialog
        calls[uuid] = call
        let deadline = now.advanced(byNanoseconds: 60_000_000_000)
        control.add(
          PhoneCall(incoming: uuid, from: "b", sip: dialog, ringsUntil: deadline, .unknown)
        )
      }
    }

    private mutating func report(of uuid: UUID) {
      var statistics = StreamStatistics()
      statistics.silenceNanoseconds = Int64.random(in: 0..<33_000_000_000, using: &generator)
      statistics.refusals = Int.random(in: 0..<10, using: &generator)
      statistics.isFarGone = Bool.random(using: &generator)
      handle(.mediaReported(statistics), of: uuid)
    }

    mutating func checkInvariants() {
      let live = Set(control.calls.map(\.uuid))
      for (uuid, call) in calls {
        expect(
          live.contains(uuid) != call.isReleased,
          "a call lives without its port, or its port on"
        )
        expect(!call.isReleased || call.dialog == nil, "a dialog outlives its call")
      }
      let conferences = Dictionary(grouping: control.calls, by: \.conference)
      for (number, members) in conferences where number != 0 {
        expect(members.count > 1, "a conference of one")
      }
      expect(control.calls.count <= 4, "too many calls")
      expect(actions == answers, "an action was not answered once")
      calls = calls.filter { !$0.value.isReleased }
    }
  }

  @Test(arguments: UInt64(1)...5)
  func randomSequencesKeepTheInvariants(seed: UInt64) {
    var world = World(seed: seed)
    for step in 0..<Self.stepsPerSeed {
      world.step()
      world.checkInvariants()
      guard world.faults.isEmpty else {
        Issue.record("seed \(seed), step \(step): \(world.faults)")
        return
      }
    }
    // A run in which hardly a call ended would have shown nothing.
    #expect(world.ends > 500)
    world.perform(world.control.handle(.phoneStopped, at: world.now))
    #expect(world.control.calls.isEmpty)
  }
}
