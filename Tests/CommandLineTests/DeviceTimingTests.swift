import MediaCore
import Testing

@testable import CommandLine

/// A device's clock against the system's.
struct DeviceTimingTests {
  /// Compares clocks every 5 ms for `seconds`; the device's is fast by `partsPerMillion`.
  ///
  /// `late` gives the lateness of each look, in microseconds.
  private func comparison(
    partsPerMillion: Double,
    seconds: Double,
    lateness late: (Int) -> Double = { _ in 0 }
  ) -> ClockComparison {
    var comparison = ClockComparison(rate: .voice)
    for look in 0..<Int(seconds * 200) {
      let exact = Double(look) * 5_000_000
      let frames = exact / 1e9 * 48_000 * (1 + partsPerMillion / 1e6)
      comparison.note(Int64(frames), at: Int64(exact + late(look) * 1_000))
    }
    return comparison
  }

  @Test(arguments: [-500.0, -40, 0, 40, 500])
  func theRateIsFound(partsPerMillion: Double) throws {
    let found = try #require(
      comparison(partsPerMillion: partsPerMillion, seconds: 10).partsPerMillion
    )
    #expect(abs(found - partsPerMillion) < 3, "\(found)")
  }

  /// A thread that is woken late sees the clock late, never early.
  @Test func lateLooksChangeLittle() throws {
    var random = SeededGenerator(seed: 3)
    let comparison = comparison(partsPerMillion: 40, seconds: 10) { _ in
      Double.random(in: 0...2_000, using: &random)
    }
    let found = try #require(comparison.partsPerMillion)
    #expect(abs(found - 40) < 30, "\(found)")
  }

  @Test func aShortLookSaysNothing() {
    #expect(comparison(partsPerMillion: 40, seconds: 2).partsPerMillion == nil)
    #expect(ClockComparison(rate: .voice).partsPerMillion == nil)
  }

  @Test func aClockThatStandsIsFarTooSlow() throws {
    var comparison = ClockComparison(rate: .voice)
    for look in 0..<40 { comparison.note(0, at: Int64(look) * 100_000_000) }
    let found = try #require(comparison.partsPerMillion)
    #expect(abs(found - -1_000_000) < 1)
  }

  @Test func comparisonsAreEqualByWhatTheyHaveSeen() {
    let one = comparison(partsPerMillion: 40, seconds: 3)
    #expect(one == comparison(partsPerMillion: 40, seconds: 3))
    #expect(one != comparison(partsPerMillion: 41_000, seconds: 3))
    #expect(one != ClockComparison(rate: .voice))
  }
}
