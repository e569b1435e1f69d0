import Glibc
import MediaTime
import Simulation
import Testing

@testable import Playout

/// Packets each 5 ms, and a player that asks each 2.5 ms.
struct RequestPhaseTests {
  private static let grain: Int64 = 2_500_000

  /// The seconds in which packets are about to slip that first wait `wait` milliseconds and drift by `ppm`, and the first
  /// in which the line on which they lie does; who sends and who plays are late by `lateness` milliseconds in the mean.
  private func foretold(
    wait: Double,
    ppm: Double,
    lateness: Double = 0.06,
    step: Double = 0,
    seed: UInt64,
    seconds: Int = 60
  ) -> (foretold: [Double], slipped: Double?) {
    var phase = RequestPhase()
    var generator = SeededGenerator(seed: seed)
    var foretold: [Double] = []
    var slipped: Double?
    for packet in 0..<seconds * 200 {
      let second = Double(packet) / 200
      let line = wait + ppm * second / 1_000 + (second > 20 ? step : 0)
      if line < 0, slipped == nil { slipped = second }
      let late = [generator.unit(), generator.unit()].map { -lateness * log(1 - $0) }
      let lying = Int64((line + late[0] - late[1]) * 1e6) % Self.grain
      phase.update(
        wait: lying < 0 ? lying + Self.grain : lying,
        grain: Self.grain,
        at: MonotonicInstant(nanoseconds: Int64(packet) * 5_000_000)
      )
      if phase.slipping > 0 { foretold.append(second) }
    }
    return (foretold, slipped)
  }

  @Test(arguments: [-200.0, -100, -40], 1...10 as ClosedRange<UInt64>)
  func aSlipIsForetold(ppm: Double, seed: UInt64) throws {
    let (foretold, slipped) = foretold(wait: 2.2, ppm: ppm, seed: seed)
    let slip = try #require(slipped)
    let first = try #require(foretold.first)
    #expect((5...25).contains(slip - first), "\(first) s, \(slip) s")
    // And not again before the next one is near.
    let between = slip + 300 / -ppm...slip + 450 / -ppm
    #expect(!foretold.contains { between.contains($0) })
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func whoWaitsEverLongerIsNotLate(seed: UInt64) {
    #expect(foretold(wait: 0.3, ppm: 200, seed: seed).foretold.isEmpty)
    #expect(foretold(wait: 0.3, ppm: 20, seed: seed).foretold.isEmpty)
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func whatStaysWhereItIsIsNotLate(seed: UInt64) {
    for wait in [0, 0.3, 0.8, 1.6, 2.4] {
      #expect(foretold(wait: wait, ppm: 0, seed: seed).foretold.count < 20)
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func aStepIsNoDrift(seed: UInt64) {
    #expect(foretold(wait: 2.2, ppm: 0, step: -0.8, seed: seed).foretold.count < 20)
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>) func whatHasNoPhaseHasNone(seed: UInt64) {
    #expect(foretold(wait: 0, ppm: 0, lateness: 1, seed: seed).foretold.isEmpty)
    #expect(foretold(wait: 0, ppm: -200, lateness: 2, seed: seed).foretold.isEmpty)
  }

  @Test func aPauseForgetsEverything() {
    var phase = RequestPhase()
    for packet in 0..<2_000 {
      let arrival = MonotonicInstant(nanoseconds: Int64(packet) * 5_000_000)
      phase.update(wait: Int64(2_000 - packet) * 500, grain: Self.grain, at: arrival)
    }
    #expect(phase.slipping > 0)
    let later = MonotonicInstant(nanoseconds: 20_000_000_000)
    phase.update(wait: 100_000, grain: Self.grain, at: later)
    #expect(phase.slipping == 0)
  }

  @Test func aPlayerWithoutAGrainForetellsNothing() {
    var phase = RequestPhase()
    for packet in 0..<1_000 {
      let arrival = MonotonicInstant(nanoseconds: Int64(packet) * 5_000_000)
      phase.update(wait: 0, grain: 0, at: arrival)
    }
    #expect(phase.slipping == 0)
  }
}
