import Foundation
import Testing

/// Whole machines in virtual time: two or three phones that call each other, users who press every
/// button, processes that are killed, headsets and networks that fail.
///
/// After each event the invariants are checked. A failure prints how to repeat it with the fewest
/// steps: `MACHINE_SEED`, `MACHINE_EVENTS` and `MACHINE_STEPS` are for that, and `MACHINE_SEEDS`
/// for a longer run.
@Suite(.serialized)
struct MachineTests {
  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  private static let events = number("MACHINE_EVENTS") ?? 5_000
  private static let seeds: [Int] =
    number("MACHINE_SEED").map { [$0] } ?? Array(1...(number("MACHINE_SEEDS") ?? 8))

  /// True unless the environment sets seeds, a number of events, or steps.
  private static let isWhole = ["SEED", "SEEDS", "EVENTS", "STEPS"].allSatisfy {
    ProcessInfo.processInfo.environment["MACHINE_" + $0] == nil
  }

  private static func world(_ seed: Int, skipping skipped: Set<Int> = []) -> SimulatedWorld {
    let world = SimulatedWorld(seed: UInt64(seed), skipping: skipped)
    world.run(events: events)
    world.settle()
    return world
  }

  // The fewest steps with which something is still wrong, found by leaving out ever smaller parts.
  private static func shrink(_ seed: Int, _ steps: [Int]) -> [Int] {
    var kept = steps
    var size = max(1, kept.count / 2)
    while size >= 1 {
      var start = 0
      while start < kept.count {
        let rest = Array(kept[..<start] + kept[min(kept.count, start + size)...])
        if fails(seed, keeping: rest) { kept = rest } else { start += size }
      }
      size = size == 1 ? 0 : size / 2
    }
    return kept
  }

  private static func fails(_ seed: Int, keeping kept: [Int]) -> Bool {
    let skipped = Set(0..<100_000).subtracting(kept)
    return world(seed, skipping: skipped).fault != nil
  }

  @Test func invariantsHold() {
    var (events, connections, activations) = (0, 0, 0)
    for seed in Self.seeds {
      var skipped: Set<Int> = []
      if let steps = ProcessInfo.processInfo.environment["MACHINE_STEPS"] {
        skipped = Set(0..<100_000).subtracting(steps.split(separator: ",").compactMap { Int($0) })
      }
      let world = Self.world(seed, skipping: skipped)
      events += world.events
      connections += world.machines.map(\.connections).reduce(0, +)
      activations += world.machines.map(\.activations).reduce(0, +)
      guard let fault = world.fault else { continue }
      let kept = skipped.isEmpty ? Self.shrink(seed, world.steps) : world.steps
      let steps = kept.map { "\($0)" }.joined(separator: ",")
      Issue.record(
        """
        seed \(seed): \(fault)
        MACHINE_SEED=\(seed) MACHINE_EVENTS=\(Self.events) MACHINE_STEPS=\(steps) \
        swift test --filter MachineTests
        """
      )
      return
    }
    print("\(events) events, \(connections) calls connected, \(activations) activations")
    #expect(connections > Self.seeds.count, "too few calls connect")
    if Self.isWhole { #expect(events >= 100_000) }
  }

  /// The same seed gives the same world.
  @Test func seedsRepeat() {
    let (one, other) = (Self.world(7), Self.world(7))
    #expect(one.events == other.events && one.now == other.now)
  }
}
