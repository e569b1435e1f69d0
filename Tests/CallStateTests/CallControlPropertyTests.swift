import MediaCore
import Simulation
import Testing

@testable import CallState

/// Drives `CallControl` with random events of several providers, calls and users, and checks its
/// invariants after each.
///
/// A scripted device stands for the sound hardware: activation opens it, deactivation closes it.
/// The seed is the argument; with it alone a failure repeats.
struct CallControlPropertyTests {
  private static let stepsPerSeed = 10_000

  /// The world outside the machine, built from its effects alone.
  private struct World {
    /// Provider whose session was reported as active; nil if none is.
    var owner: ProviderID?
    /// True while devices are being opened.
    var isBusy = false
    var activations = 0
    var deactivations = 0
    var open: [ActionID: CallAction] = [:]
    var newest = ActionID(rawValue: 0)
    var fulfilled: Set<CallID> = []
    var live: Set<CallID> = []
    var faults: [String] = []
    var records = 0
    var ends = 0

    mutating func expect(_ condition: Bool, _ fault: String) {
      if !condition { faults.append(fault) }
    }

    mutating func perform(_ effect: CallControl.Effect) {
      switch effect {
      case .deliver(let actions):
        expect(Set(actions.map(\.provider)).count == 1, "a transaction of several providers")
        for action in actions {
          expect(action.id.rawValue > newest.rawValue, "an action was delivered twice")
          expect(live.contains(action.call), "an action on a call that was never reported")
          newest = action.id
          open[action.id] = action
        }
      case .timedOut(let action):
        expect(open[action.id] != nil, "a time-out of what was not delivered")
      case .finished(let action, let outcome):
        expect(open.removeValue(forKey: action.id) != nil, "an action ended twice")
        if outcome == .fulfilled, action.kind.opensAudio { fulfilled.insert(action.call) }
      case .callChanged(let call):
        if call.hasEnded {
          expect(live.remove(call.id) != nil, "a call ended twice")
          fulfilled.remove(call.id)
          ends += 1
        } else {
          live.insert(call.id)
        }
      case .activateAudio:
        expect(!isBusy && owner == nil, "asked to activate while something else is under way")
        expect(!fulfilled.isEmpty, "activated without a fulfilled start, answer or resume")
        isBusy = true
      case .audioActivated(let provider):
        expect(owner == nil, "activated twice")
        expect(!fulfilled.isEmpty, "told of an activation that no call needs")
        activations += 1
        owner = provider
      case .deactivateAudio(let provider, _):
        expect(owner == provider, "deactivated without activation, or without a word")
        deactivations += owner == nil ? 0 : 1
        owner = nil
      case .didReset:
        expect(open.isEmpty, "an action outlived the reset")
      case .giveBack:
        expect(owner == nil, "another program was let resume beside a call")
      case .recorded:
        records += 1
      }
    }
  }

  /// The state machine, the world that observes it and the source of random events.
  private struct Game {
    var control = CallControl()
    var world = World()
    var random: SeededGenerator
    var seconds = 0.0
    var providers: [ProviderID] = []
    let names = (0..<6).map { CallID(high: 0, low: $0) }

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      for _ in 0..<3 { addProvider() }
    }

    var now: Moment {
      Moment(
        instant: MonotonicInstant(nanoseconds: Int64(seconds * 1e9)),
        date: CallDate(secondsSince1970: seconds)
      )
    }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func any<Element>(_ elements: [Element]) -> Element {
      elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    mutating func addProvider() {
      let id = control.addProvider(
        ProviderSettings(
          maximumCallGroups: Int.random(in: 1...3, using: &random),
          maximumCallsPerCallGroup: Int.random(in: 1...3, using: &random)
        )
      )
      control.setHasDelegate(id, !chance(4))
      providers.append(id)
      if providers.count > 3 { control.invalidate(providers.removeFirst(), at: now) }
    }

    mutating func wish() -> ActionRequest {
      let start = StartRequest(handle: CallHandle(kind: .generic, value: "bob"))
      let kinds: [ActionKind] = [
        .start(start), .start(start), .answer, .answer, .end, .setHeld(chance(2)),
        .setHeld(chance(2)), .setMuted(chance(2)), .setGroup(chance(3) ? nil : any(names)),
        .playDTMF(digits: "5", .singleTone), .unsupported,
      ]
      return ActionRequest(call: any(names), kind: any(kinds))
    }

    mutating func decision() -> UserDecision {
      let call = any(names)
      let choices: [AnswerChoice] = [
        .answer, .holdAndAnswer, .endAndAnswer, .endHeldAndAnswer, .decline,
      ]
      let decisions: [UserDecision] = [
        .incoming(call, any(choices)), .incoming(call, any(choices)), .end(call),
        .setHeld(call, chance(2)), .swap(to: call), .setMuted(call, chance(2)),
        .merge(call, any(names)), .separate(call), .press(call, digits: "12"),
      ]
      return any(decisions)
    }

    mutating func report() {
      let call = any(names)
      let provider = any(providers)
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let screening = CallerScreening(isBlocked: chance(10), isSilenced: chance(10))
        try? control.reportIncoming(
          call,
          CallUpdate(),
          of: provider,
          screening: screening,
          at: now
        )
      case 2: control.reportConnecting(call, of: provider, at: now.date)
      case 3: control.reportConnected(call, of: provider, at: now.date)
      case 4: control.reportEnded(call, of: provider, reason: .remoteEnded, at: now)
      default:
        var update = CallUpdate()
        update.supportsHolding = .set(!chance(3))
        update.supportsGrouping = .set(!chance(3))
        control.update(call, update, of: provider)
      }
    }

    mutating func step() {
      switch Int.random(in: 0..<20, using: &random) {
      case 0, 1, 2: _ = try? control.request([wish()], at: now)
      case 3: _ = try? control.request([wish(), wish(), wish()], at: now)
      case 4, 5, 6: control.decide(decision(), at: now)
      case 7, 8, 9, 10: report()
      case 11, 12, 13, 14, 15, 16:
        // Pending actions, and old and unknown ones, some of them twice.
        let pending = control.pendingActions
        let isOld = pending.isEmpty || chance(3)
        let old = Int.random(in: 0...max(1, world.newest.rawValue + 2), using: &random)
        let id = isOld ? ActionID(rawValue: old) : any(pending).id
        let isFulfilled = !chance(5)
        control.answer(id, isFulfilled: isFulfilled, at: now)
        if chance(10) { control.answer(id, isFulfilled: !isFulfilled, at: now) }
      case 17, 18:
        seconds += Double.random(in: 0..<(chance(10) ? 700 : 8), using: &random)
        control.advance(to: now)
      default:
        if chance(40) { control.reset(at: now) }
        if chance(20) { addProvider() }
        if chance(2) { makeWay() }
        if chance(2) { control.takeBackFromOtherProgram(at: now) }
      }
      drain()
    }

    mutating func makeWay() {
      control.makeWayForOtherProgram(at: now)
      for call in control.calls where call.isActive {
        world.expect(
          control.pendingActions.contains {
            $0.call == call.id && ($0.kind == .setHeld(true) || $0.kind == .end)
          },
          "a call stays active beside another program's"
        )
      }
    }

    mutating func drain() {
      repeat {
        while let effect = control.nextEffect() { world.perform(effect) }
        // Opening a device takes a while, in which anything may happen.
        if world.isBusy, !chance(4) { finishAudio() }
      } while control.hasEffects
      check()
    }

    mutating func finishAudio() {
      world.isBusy = false
      switch control.audio {
      case .activating where chance(30):
        control.audioActivationFailed(at: now)
      case .activating: control.audioActivated()
      case .inactive, .active: world.expect(false, "nothing was under way")
      }
    }

    mutating func check() {
      let audible = control.calls.filter(\.isAudible)
      let groups = Set(audible.map { $0.group.map { "\($0.rawValue)" } ?? "\($0.id)" })
      world.expect(groups.count <= 1, "several calls are heard: \(groups)")
      switch control.audio {
      case .inactive:
        world.expect(audible.isEmpty && world.owner == nil, "heard without a device")
      case .active(let owner):
        world.expect(audible.first?.provider == owner, "a device without a call that is heard")
        world.expect(world.owner == owner && !world.isBusy, "the provider does not know")
      case .activating:
        world.expect(world.owner == nil && world.isBusy, "activating without a request")
      }
      world.expect(world.live == Set(control.snapshots.map(\.id)), "observers see other calls")
      world.expect(
        Set(world.open.keys) == Set(control.pendingActions.map(\.id)),
        "other actions are pending"
      )
      world.expect(
        control.calls.allSatisfy { $0.group == nil || control.members(of: $0.group).count > 1 },
        "a group of one"
      )
      for action in control.pendingActions where action.deadline <= now.instant {
        world.expect(false, "an action outlived its deadline")
      }
    }
  }

  @Test(arguments: UInt64(1)...100)
  func invariantsHoldUnderRandomEvents(seed: UInt64) {
    var game = Game(seed: seed)
    for step in 0..<Self.stepsPerSeed {
      game.step()
      guard game.world.faults.isEmpty else {
        Issue.record("seed \(seed), step \(step): \(game.world.faults)")
        return
      }
    }
    for provider in game.providers { game.control.invalidate(provider, at: game.now) }
    game.drain()
    while game.world.isBusy {
      game.finishAudio()
      game.drain()
    }
    #expect(game.world.faults.isEmpty && game.world.open.isEmpty && game.world.live.isEmpty)
    #expect(game.world.activations == game.world.deactivations)
    #expect(game.world.activations > 100 && game.world.records == game.world.ends)
    #expect(game.control.nextDeadline == nil)
    #expect(game.control.ledger.outstanding.isEmpty, "answered actions never took effect")
  }
}
