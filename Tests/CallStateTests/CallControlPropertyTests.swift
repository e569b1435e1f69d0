import MediaTime
import TestSupport
import Testing

@testable import CallState

/// Drives the machine with random events and checks after each what must always hold.
///
/// A scripted device stands for the sound hardware: activation opens it, deactivation closes it. The
/// seed is the argument; with it alone a failure repeats.
struct CallControlPropertyTests {
  private static let stepsPerSeed = 10_000

  /// The world outside the machine, built from its effects alone.
  private struct World {
    var isDeviceOpen = false
    var activations = 0
    var deactivations = 0
    var open: [ActionID: CallAction] = [:]
    var finished: Set<ActionID> = []
    var fulfilled: Set<CallID> = []
    var live: Set<CallID> = []
    var timedOut: Set<ActionID> = []
    var activationFails = false

    mutating func perform(
      _ effect: CallControl.Effect,
      _ control: inout CallControl,
      at now: MonotonicInstant
    ) {
      switch effect {
      case .perform(let action):
        #expect(open[action.id] == nil && !finished.contains(action.id))
        open[action.id] = action
      case .timedOut(let action):
        #expect(timedOut.insert(action.id).inserted)
      case .finished(let action, let outcome):
        #expect(finished.insert(action.id).inserted, "an action ended twice")
        open[action.id] = nil
        if outcome == .fulfilled, action.kind == .start || action.kind == .answer {
          fulfilled.insert(action.call)
        }
      case .callChanged(let call):
        if call.hasEnded {
          #expect(live.remove(call.id) != nil, "a call ended twice")
          fulfilled.remove(call.id)
        } else {
          live.insert(call.id)
        }
      case .activateAudio:
        #expect(!isDeviceOpen, "activated twice")
        #expect(!fulfilled.isEmpty, "activated without a fulfilled start or answer")
        activations += 1
        if activationFails {
          deactivations += 1
          control.audioActivationFailed(at: now)
        } else {
          isDeviceOpen = true
        }
      case .deactivateAudio:
        #expect(isDeviceOpen, "deactivated without activation")
        isDeviceOpen = false
        deactivations += 1
      case .didReset:
        #expect(open.isEmpty)
      }
    }
  }

  @Test(arguments: UInt64(1)...12)
  func invariantsHoldUnderRandomEvents(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var control = CallControl()
    control.maximumCallGroups = 3
    var world = World()
    var now = MonotonicInstant(nanoseconds: 0)
    let names = (0..<5).map { CallID(high: 0, low: $0) }

    for step in 0..<Self.stepsPerSeed {
      let call = names.randomElement(using: &random) ?? names[0]
      world.activationFails = Int.random(in: 0..<20, using: &random) == 0
      switch Int.random(in: 0..<13, using: &random) {
      case 0:
        _ = try? control.request([.init(call: call, kind: .start)], at: now)
      case 1:
        try? control.reportIncoming(call, at: now)
      case 2:
        _ = try? control.request([.init(call: call, kind: .answer)], at: now)
      case 3:
        _ = try? control.request([.init(call: call, kind: .end)], at: now)
      case 4:
        _ = try? control.request(
          [
            .init(call: call, kind: .setMuted(.random(using: &random))),
            .init(call: names[0], kind: .end), .init(call: call, kind: .answer),
          ],
          at: now
        )
      case 5, 6, 7:
        // Old, unknown and pending actions alike are answered, some of them twice.
        let id = Int.random(in: 0...max(1, world.finished.count + 3), using: &random)
        let pending = control.pendingActions.randomElement(using: &random)?.id
        control.answer(
          Bool.random(using: &random) ? pending ?? ActionID(rawValue: id) : ActionID(rawValue: id),
          isFulfilled: Int.random(in: 0..<4, using: &random) > 0,
          at: now
        )
      case 8:
        control.reportConnecting(call)
      case 9:
        control.reportConnected(call)
      case 10:
        control.reportEnded(call, at: now)
      case 11:
        now = now.advanced(by: .milliseconds(Int.random(in: 0..<20_000, using: &random)))
        control.advance(to: now)
      default:
        if Int.random(in: 0..<50, using: &random) == 0 { control.reset() }
      }
      while let effect = control.nextEffect() { world.perform(effect, &control, at: now) }

      #expect(world.isDeviceOpen == control.isAudioActive, "seed \(seed) step \(step)")
      #expect(world.live == Set(control.snapshots.map(\.id)))
      #expect(Set(world.open.keys) == Set(control.pendingActions.map(\.id)))
    }

    control.invalidate()
    while let effect = control.nextEffect() { world.perform(effect, &control, at: now) }
    #expect(!world.isDeviceOpen && world.open.isEmpty && world.live.isEmpty)
    #expect(world.activations == world.deactivations)
    #expect(world.activations > 100)
    #expect(control.nextDeadline == nil)
  }
}
