import Foundation
import Testing
import VoiceEngine

@testable import CommandLine
@testable import SidetonePhone

struct CallSessionStateTests {
  private typealias Effect = CallSessionState.Effect

  private let alice = UUID()
  private let bob = UUID()

  private func session(
    answersAtOnce: Bool = false,
    endsAfterFirst: Bool = false
  ) -> CallSessionState {
    CallSessionState(.init(answersAtOnce: answersAtOnce, endsAfterFirst: endsAfterFirst))
  }

  /// A session with Alice connected, and Bob on hold if `isBobHeld`.
  private func talking(isBobHeld: Bool = false) -> CallSessionState {
    var state = session()
    if isBobHeld {
      _ = state.handle(.phone(.calling(bob, to: "b")))
      _ = state.handle(.phone(.connected(bob, to: "b")))
      _ = state.handle(.phone(.held(bob)))
    }
    _ = state.handle(.phone(.calling(alice, to: "a")))
    _ = state.handle(.phone(.connected(alice, to: "a")))
    return state
  }

  private func effects(of keys: String, in state: CallSessionState) -> [Effect] {
    var state = state
    return keys.flatMap { state.handle(.key($0)) }
  }

  // MARK: Keys

  @Test func callerIsAnsweredOrDeclinedByAKey() {
    var state = session()
    let first = state.handle(.phone(.incoming(alice, from: "a")))
    #expect(first == [], "a caller is answered by a key only")
    #expect(effects(of: "a", in: state) == [.answer(alice)])
    #expect(effects(of: "e", in: state) == [.endAndAnswer(alice)])
    #expect(effects(of: "d", in: state) == [.end(alice)])
    #expect(effects(of: "h", in: state) == [.end(alice)])
    #expect(effects(of: "q", in: state) == [.end(alice)])
    #expect(effects(of: "mos5*c", in: state) == [], "there is no call to do that to")
  }

  @Test func keysOfAConnectedCall() {
    let state = talking()
    #expect(
      effects(of: "m", in: state) == [.setMuted(alice, .muted)]
    )
    #expect(
      effects(of: "mm", in: state) == [.setMuted(alice, .muted), .setMuted(alice, .unmuted)],
      "the key toggles"
    )
    #expect(effects(of: "o", in: state) == [.setHeld(alice, true)])
    #expect(effects(of: "s", in: state) == [.setHeld(alice, true)])
    #expect(
      effects(of: "0*#", in: state) == [.press(alice, "0"), .press(alice, "*"), .press(alice, "#")]
    )
    #expect(effects(of: "h", in: state) == [.end(alice)])
    #expect(effects(of: "adec", in: state) == [], "no call rings, and none is held")
    #expect(effects(of: "xyz \u{7}é", in: state) == [])
  }

  @Test func keysOfACallThatIsBeingPlaced() {
    var state = session()
    _ = state.handle(.phone(.calling(alice, to: "a")))
    #expect(effects(of: "mo", in: state) == [], "the far side hears nothing yet")
    #expect(effects(of: "5", in: state) == [.press(alice, "5")], "a menu may ask for it")
    #expect(effects(of: "h", in: state) == [.end(alice)])
  }

  @Test func keysOfTwoCalls() {
    let state = talking(isBobHeld: true)
    #expect(effects(of: "o", in: state) == [.setHeld(bob, false)], "resuming one holds the other")
    #expect(effects(of: "c", in: state) == [.join(bob, with: alice)])
    #expect(effects(of: "h", in: state) == [.end(alice)], "the one that talks")
    var alone = state
    _ = alone.handle(.phone(.ended(alice, .hungUp)))
    #expect(effects(of: "h", in: alone) == [.end(bob)], "a held call can be ended as well")
    #expect(effects(of: "5", in: alone) == [], "a held call sends no digits")
  }

  @Test func swappedCallsAreSwappedBack() {
    var state = talking(isBobHeld: true)
    _ = state.handle(.phone(.resumed(bob)))
    _ = state.handle(.phone(.held(alice)))
    #expect(effects(of: "o", in: state) == [.setHeld(alice, false)])
    #expect(effects(of: "7", in: state) == [.press(bob, "7")])
  }

  // MARK: Answering without a user

  @Test func onlyTheFirstCallerIsAnsweredAtOnce() {
    var state = session(answersAtOnce: true)
    let first = state.handle(.phone(.incoming(alice, from: "a")))
    let second = state.handle(.phone(.incoming(bob, from: "b")))
    #expect(first == [.answer(alice)])
    #expect(second == [], "a second caller never interrupts a call")
    _ = state.handle(.phone(.ended(alice, .hungUp)))
    _ = state.handle(.phone(.ended(bob, .failed(""))))
    let next = state.handle(.phone(.incoming(alice, from: "a")))
    #expect(next == [.answer(alice)])
  }

  @Test func connectedCallIsLimitedAndEndedInTime() {
    var state = session()
    _ = state.handle(.phone(.calling(alice, to: "a")))
    let connected = state.handle(.phone(.connected(alice, to: "a")))
    #expect(connected == [.limit(alice)])
    let late = state.handle(.timeIsUp(alice))
    #expect(late == [.end(alice)])
    _ = state.handle(.phone(.ended(alice, .hungUp)))
    let afterwards = state.handle(.timeIsUp(alice))
    #expect(afterwards == [], "it has ended by itself")
  }

  @Test func transferIsTypedOrConnectsTwoCalls() {
    var state = session()
    #expect(state.handle(.key("t")) == [], "there is no call to transfer")
    _ = state.handle(.phone(.calling(alice, to: "a")))
    _ = state.handle(.phone(.connected(alice, to: "a")))
    #expect(state.handle(.key("t")) == [.showTarget("")])
    // Keys are letters now.
    #expect(state.handle(.key("h")) == [.showTarget("h")])
    #expect(state.handle(.key("\u{7F}")) == [.showTarget("")])
    for key in "bob" { _ = state.handle(.key(key)) }
    #expect(state.handle(.key("\n")) == [.showTarget(nil), .transfer(alice, to: "bob")])
    _ = state.handle(.key("t"))
    #expect(state.handle(.key("\u{1B}")) == [.showTarget(nil)])
    _ = state.handle(.phone(.held(alice)))
    // Most hold a call before they pass it on.
    #expect(state.handle(.key("t")) == [.showTarget("")])
    _ = state.handle(.key("c"))
    #expect(state.handle(.key("\n")) == [.showTarget(nil), .transfer(alice, to: "c")])
    _ = state.handle(.phone(.calling(bob, to: "b")))
    _ = state.handle(.phone(.connected(bob, to: "b")))
    #expect(state.handle(.key("t")) == [.connect(alice, with: bob)])
  }

  @Test func userDecidesAboutATransferOnce() {
    var state = session()
    _ = state.handle(.phone(.calling(alice, to: "a")))
    _ = state.handle(.phone(.connected(alice, to: "a")))
    #expect(state.handle(.key("y")) == [])
    _ = state.handle(.phone(.transferRequested(alice, to: "b")))
    #expect(state.handle(.key("y")) == [.followTransfer(alice, true)])
    #expect(state.handle(.key("n")) == [])
    _ = state.handle(.phone(.transferRequested(alice, to: "c")))
    #expect(state.handle(.key("n")) == [.followTransfer(alice, false)])
    _ = state.handle(.phone(.transferRequested(alice, to: "d")))
    _ = state.handle(.phone(.ended(alice, .hungUp)))
    #expect(state.handle(.key("y")) == [])
  }

  /// Some phones hang up as soon as they have asked (RFC 5589 section 6.1).
  @Test func transferIsFollowedAfterTheFarSideHasGone() {
    var state = session()
    _ = state.handle(.phone(.connected(alice, to: "a")))
    _ = state.handle(.phone(.transferRequested(alice, to: "b")))
    _ = state.handle(.phone(.ended(alice, .hungUpByFarSide)))
    #expect(state.handle(.key("y")) == [.followTransfer(alice, true)])
    #expect(state.handle(.key("y")) == [])
    for news in [CallSessionState.Event.linked("sip:c@d"), .phone(.incoming(bob, from: "b"))] {
      _ = state.handle(.phone(.connected(alice, to: "a")))
      _ = state.handle(.phone(.transferRequested(alice, to: "b")))
      _ = state.handle(.phone(.ended(alice, .hungUpByFarSide)))
      _ = state.handle(news)
      #expect(!state.handle(.key("y")).contains(.followTransfer(alice, true)))
    }
  }

  /// A page may send any link; only the newest is asked about.
  @Test func userDecidesAboutALinkOnce() {
    var state = session()
    #expect(state.handle(.linked("sip:a@b")) == [] && state.handle(.linked("sip:c@d")) == [])
    #expect(state.handle(.key("y")) == [.call("sip:c@d")] && state.handle(.key("y")) == [])
    _ = state.handle(.linked("sip:a@b"))
    #expect(state.handle(.key("n")) == [] && state.handle(.key("y")) == [])
    _ = state.handle(.phone(.connected(alice, to: "a")))
    _ = state.handle(.phone(.transferRequested(alice, to: "c")))
    _ = state.handle(.linked("sip:a@b"))
    #expect(state.handle(.key("n")) == [.followTransfer(alice, false)], "the call comes first")
    #expect(state.handle(.key("y")) == [.call("sip:a@b")])
  }

  // MARK: The end

  @Test func programEndsAfterItsCallHasReleasedTheDevices() {
    var state = session(endsAfterFirst: true)
    #expect(!state.isOver && state.failure != nil)
    _ = state.handle(.phone(.calling(alice, to: "a")))
    _ = state.handle(.phone(.audioActivated))
    _ = state.handle(.phone(.connected(alice, to: "a")))
    _ = state.handle(.phone(.ended(alice, .hungUp)))
    #expect(!state.isOver, "the devices are still taken")
    _ = state.handle(.phone(.audioDeactivated))
    #expect(state.isOver && state.failure == nil)
  }

  /// The disk may take longer than the call: the end of the recording is announced first.
  @Test func programEndsAfterTheRecordingIsWhole() {
    var state = session(endsAfterFirst: true)
    _ = state.handle(.phone(.calling(alice, to: "a")))
    _ = state.handle(.phone(.connected(alice, to: "a")))
    for file in ["first.wav", "second.wav"] {
      _ = state.handle(.phone(.recording(alice, file: file)))
    }
    _ = state.handle(.phone(.recordingEnded(alice, file: "first.wav", reason: nil)))
    _ = state.handle(.phone(.ended(alice, .hungUp)))
    #expect(!state.isOver)
    _ = state.handle(.phone(.recordingEnded(alice, file: "second.wav", reason: "full")))
    #expect(state.isOver && state.failure == nil)
  }

  @Test func callThatEndedBadlyIsAFailureInWords() {
    var state = session(endsAfterFirst: true)
    _ = state.handle(.phone(.calling(alice, to: "a")))
    _ = state.handle(.phone(.ended(alice, .busy(code: 486))))
    #expect(state.isOver)
    #expect(state.failure?.contains("busy") == true)
  }

  @Test func callThatCannotBePlacedEndsTheProgramAtOnce() {
    var state = session(endsAfterFirst: true)
    _ = state.handle(.callFailed("no such host"))
    #expect(state.isOver && state.failure == "no such host")
  }

  @Test func listeningGoesOnAfterACall() {
    var state = session()
    _ = state.handle(.phone(.incoming(alice, from: "a")))
    _ = state.handle(.phone(.ended(alice, .hungUp)))
    #expect(!state.isOver)
  }

  @Test func firstInterruptHangsUpAndTheSecondDoesNotWait() {
    var state = talking(isBobHeld: true)
    _ = state.handle(.phone(.audioActivated))
    let effects = state.handle(.interrupted)
    #expect(Set(effects.map { "\($0)" }) == Set([Effect.end(bob), .end(alice)].map { "\($0)" }))
    #expect(!state.isOver, "the calls have to end first")
    var patient = state
    for call in [alice, bob] {
      _ = patient.handle(.phone(.ended(call, .hungUp)))
    }
    #expect(!patient.isOver)
    _ = patient.handle(.phone(.audioDeactivated))
    #expect(patient.isOver && patient.failure == nil)
    _ = state.handle(.interrupted)
    #expect(state.isOver)
  }

  @Test func idleListenerEndsWithTheFirstInterrupt() {
    var state = session()
    _ = state.handle(.interrupted)
    #expect(state.isOver && state.failure == nil)
    var once = session(endsAfterFirst: true)
    _ = once.handle(.interrupted)
    #expect(once.isOver && once.failure == "interrupted before a call")
  }

  @Test func figuresOfTheCallThatEndsAreSummedUpOnce() {
    var state = talking()
    let figures = CallStatistics.example(of: alice)
    _ = state.handle(.statistics(figures))
    let end = state.handle(.phone(.ended(alice, .hungUp)))
    #expect(end == [.summarize(figures)])
    _ = state.handle(.phone(.calling(bob, to: "b")))
    let other = state.handle(.phone(.ended(bob, .hungUp)))
    #expect(other == [], "nothing was measured of this one")
  }

  @Test func whateverComesNoEffectNamesACallThatHasEnded() {
    var generator = SystemRandomNumberGenerator()
    let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
    var numbers = TestNumbers(seed: seed)
    for _ in 0..<200 {
      var state = session(answersAtOnce: numbers.next() % 2 == 0)
      var living: Set<UUID> = []
      for _ in 0..<200 {
        let event = numbers.event(of: &living)
        for effect in state.handle(event) {
          guard let call = effect.call else { continue }
          #expect(living.contains(call), "seed \(seed): \(event) made \(effect)")
        }
        #expect(Set(state.lines.map(\.call)) == living, "seed \(seed)")
      }
    }
  }

  @Test func missedCallersDoNotMakeListeningAFailure() {
    var state = session()
    _ = state.handle(.phone(.incoming(alice, from: "a")))
    _ = state.handle(.phone(.ended(alice, .failed("missed"))))
    _ = state.handle(.interrupted)
    #expect(state.isOver && state.failure == nil)
    var once = session(endsAfterFirst: true)
    _ = once.handle(.phone(.incoming(alice, from: "a")))
    _ = once.handle(.phone(.ended(alice, .failed("missed"))))
    #expect(once.isOver && once.failure?.contains("missed") == true)
  }

  @Test func aConferenceIsMutedAsAWhole() {
    var state = talking(isBobHeld: true)
    var quiet = state
    _ = quiet.handle(.key("m"))
    #expect(effects(of: "c", in: quiet) == [.setMuted(bob, .muted), .join(bob, with: alice)])
    _ = state.handle(.phone(.joined(bob, with: alice)))
    _ = state.handle(.phone(.resumed(bob)))
    let (on, off) = (MuteState.muted, MuteState.unmuted)
    #expect(
      effects(of: "mm", in: state)
        == [.setMuted(bob, on), .setMuted(alice, on), .setMuted(bob, off), .setMuted(alice, off)]
    )
  }
}

extension CallSessionState.Effect {
  /// Call that the effect acts on; nil for a summary and for effects that name no call.
  fileprivate var call: UUID? {
    switch self {
    case .answer(let call), .endAndAnswer(let call), .end(let call), .setMuted(let call, _),
      .setHeld(let call, _), .join(let call, _), .press(let call, _), .verify(let call),
      .limit(let call), .connect(let call, _), .transfer(let call, _),
      .followTransfer(let call, _), .record(let call, _):
      call
    case .summarize, .showTarget, .call: nil
    }
  }
}

/// Numbers and events that follow from a seed (a linear congruential generator).
private struct TestNumbers {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33)
  }

  mutating func event(of living: inout Set<UUID>) -> CallSessionState.Event {
    let calls = living.sorted { $0.uuidString < $1.uuidString }
    let call = calls.isEmpty ? nil : calls[next() % calls.count]
    switch (next() % 9, call) {
    case (0, _), (_, nil):
      let call = UUID()
      living.insert(call)
      return .phone(next() % 2 == 0 ? .incoming(call, from: "x") : .calling(call, to: "x"))
    case (1, let call?): return .phone(.connected(call, to: "x"))
    case (2, let call?): return .phone(.held(call))
    case (3, let call?): return .phone(.resumed(call))
    case (4, let call?):
      living.remove(call)
      return .phone(.ended(call, next() % 2 == 0 ? .hungUp : .failed("x")))
    case (5, let call?): return .timeIsUp(call)
    case (6, _): return .interrupted
    default: return .key(Array("aedhqmosc05*#")[next() % 13])
    }
  }
}
