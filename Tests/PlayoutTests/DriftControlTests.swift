import Testing

@testable import Playout

struct DriftControlTests {
  /// A drift control after `seconds` without a correction.
  private static func control(after seconds: Int) -> DriftControl {
    var control = DriftControl(PlayoutMechanisms())
    for _ in 0..<seconds * 50 { control.note(960, isQuiet: false) }
    return control
  }

  /// The excess in milliseconds and the ratio after `seconds`, of a sender that is `drift` too
  /// fast.
  private static func settle(
    drift: Double,
    seconds: Int,
    from first: Double = 0,
    after past: Int = 0,
    isQuiet: Bool = false
  ) -> (excess: Double, ratio: Double) {
    var control = control(after: past)
    var excess = first
    var ratio = 1.0
    for _ in 0..<seconds * 50 {
      control.note(960, isQuiet: isQuiet)
      ratio = control.ratio(forExcess: Int64(excess * 1e6), over: 960)
      excess += (drift - (ratio - 1)) * 20
    }
    return (excess, ratio)
  }

  @Test(arguments: [-0.000_3, -0.000_2, 0, 0.000_2, 0.000_3])
  func driftIsLearnedAndLeavesNoError(drift: Double) {
    let settled = Self.settle(drift: drift, seconds: 300)
    #expect(abs(settled.excess) < 0.1)
    #expect(abs(settled.ratio - 1 - drift) < 0.000_05)
  }

  @Test func aStepOfTheNetworkIsNotTakenForDrift() {
    let settled = Self.settle(drift: 0, seconds: 40, from: 4, after: 5)
    #expect(abs(settled.excess) < 0.3)
    #expect(abs(settled.ratio - 1) < 0.000_15)
  }

  @Test func whatIsTooMuchOrTooLittleWaitsForAPause() {
    for first in [-2.0, 2] {
      let beginning = Self.settle(drift: 0, seconds: 2, from: first)
      #expect(abs(beginning.excess) < 0.8)
      let speech = Self.settle(drift: 0, seconds: 2, from: first, after: 5)
      // A lack at twice the pace.
      #expect(abs(speech.excess - first) < (first < 0 ? 1.05 : 0.52))
      let pause = Self.settle(drift: 0, seconds: 2, from: first, isQuiet: true)
      #expect(abs(pause.excess) < 0.1)
    }
    // A pause between two words is too short.
    var control = Self.control(after: 5)
    for packet in 0..<100 {
      control.note(960, isQuiet: packet % 10 != 0)
      let ratio = control.ratio(forExcess: 2_000_000, over: 960)
      #expect(ratio < 1.000_5)
    }
    control.noteInterruption()
    let hasty = control.ratio(forExcess: 2_000_000, over: 960)
    #expect(hasty > 1.000_9)
  }

  @Test func tooLittleIsMendedSoonerThanTooMuch() {
    let missing = Self.settle(drift: 0, seconds: 1, from: -0.2)
    let surplus = Self.settle(drift: 0, seconds: 1, from: 0.2)
    #expect(missing.excess > -0.06 && surplus.excess > 0.1)
    // A drift that is not known yet: who speaks too slowly is the one who is not waited for.
    #expect(Self.settle(drift: -0.000_2, seconds: 5).excess > -0.11)
  }

  @Test func ratioIsNeverHeardAsPitch() {
    var control = DriftControl(PlayoutMechanisms())
    for excess: Int64 in [.min / 2, -1_000_000_000, 1_000_000_000, .max / 2] {
      let ratio = control.ratio(forExcess: excess, over: 5_760)
      #expect(abs(ratio - 1) < 0.002_001)
    }
  }
}
