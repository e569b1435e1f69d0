import MediaTime
import Simulation
import Testing

@testable import Playout

/// Packets each 5 ms, and a player that asks each 2.5 ms.
struct RequestPhaseTests {
  private static let grain: Int64 = 2_500_000

  /// The seconds in which packets are about to slip that first wait `wait` milliseconds and drift by `ppm`, and the first
  /// in which they do slip; single ones lie apart by up to `jitter` milliseconds.
  private func foretold(
    wait: Double,
    ppm: Double,
    jitter: Double = 0.1,
    seconds: Int = 60
  ) -> (foretold: [Double], slipped: Double?) {
    var phase = RequestPhase()
    var generator = SeededGenerator(seed: 3)
    var foretold: [Double] = []
    var slipped: Double?
    for packet in 0..<seconds * 200 {
      let second = Double(packet) / 200
      let beside = wait + ppm * second / 1_000 + jitter * generator.unit()
      if beside < 0, slipped == nil { slipped = second }
      let lying = Int64(beside * 1e6) % Self.grain
      phase.update(
        wait: lying < 0 ? lying + Self.grain : lying,
        grain: Self.grain,
        at: MonotonicInstant(nanoseconds: Int64(packet) * 5_000_000)
      )
      if phase.isAboutToSlip { foretold.append(second) }
    }
    return (foretold, slipped)
  }

  @Test(arguments: [-200.0, -100, -40])
  func aSlipIsForetold(ppm: Double) throws {
    let (foretold, slipped) = foretold(wait: 2.2, ppm: ppm)
    let slip = try #require(slipped)
    let first = try #require(foretold.first)
    #expect((3...15).contains(slip - first), "\(first) s, \(slip) s")
    // And not again before the next one is near.
    let between = slip + 150 / -ppm...slip + 625 / -ppm
    #expect(!foretold.contains { between.contains($0) })
  }

  @Test(arguments: [-200.0, -20, 0, 50, 200]) func theDriftIsSeenInSeconds(ppm: Double) throws {
    var phase = RequestPhase()
    var generator = SeededGenerator(seed: 5)
    var seen: [Double] = []
    for packet in 0..<4_000 {
      let instant = Int64(packet) * 5_000_000
      let wait = 1_000_000 + Int64(ppm * 1e-6 * Double(instant) + 1e5 * generator.unit())
      let lying = (wait % Self.grain + Self.grain) % Self.grain
      phase.update(wait: lying, grain: Self.grain, at: MonotonicInstant(nanoseconds: instant))
      if packet > 800 { seen.append(try #require(phase.drift) * 1e6) }
    }
    #expect(seen.allSatisfy { abs($0 - ppm) < 5 })
  }

  @Test func whoWaitsEverLongerIsNotLate() {
    #expect(foretold(wait: 1, ppm: 200, seconds: 7).foretold.isEmpty)
  }

  @Test func whatStaysWhereItIsIsNotLate() {
    #expect(foretold(wait: 0.5, ppm: 0).foretold.isEmpty)
  }

  @Test func whatHasNoPhaseHasNone() {
    #expect(foretold(wait: 0, ppm: 0, jitter: 2.5).foretold.isEmpty)
    #expect(foretold(wait: 0, ppm: -200, jitter: 5).foretold.isEmpty)
  }

  @Test func aPauseForgetsEverything() {
    var phase = RequestPhase()
    for packet in 0..<2_000 {
      let arrival = MonotonicInstant(nanoseconds: Int64(packet) * 5_000_000)
      phase.update(wait: Int64(2_000 - packet) * 500, grain: Self.grain, at: arrival)
    }
    #expect(phase.isAboutToSlip)
    let later = MonotonicInstant(nanoseconds: 20_000_000_000)
    phase.update(wait: 100_000, grain: Self.grain, at: later)
    #expect(!phase.isAboutToSlip)
  }

  @Test func aPlayerWithoutAGrainForetellsNothing() {
    var phase = RequestPhase()
    for packet in 0..<1_000 {
      let arrival = MonotonicInstant(nanoseconds: Int64(packet) * 5_000_000)
      phase.update(wait: 0, grain: 0, at: arrival)
    }
    #expect(!phase.isAboutToSlip)
  }
}
