import Testing

@testable import Playout

struct DriftControlTests {
  /// The excess in milliseconds and the ratio after `seconds`, of a sender that is `drift` too fast.
  private static func settle(
    drift: Double,
    seconds: Int,
    from first: Double = 0
  ) -> (excess: Double, ratio: Double) {
    var control = DriftControl()
    var excess = first
    var ratio = 1.0
    for _ in 0..<seconds * 50 {
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
    let settled = Self.settle(drift: 0, seconds: 12, from: 4)
    #expect(abs(settled.excess) < 0.3)
    #expect(abs(settled.ratio - 1) < 0.000_15)
  }

  @Test func tooLittleIsMendedSoonerThanTooMuch() {
    let missing = Self.settle(drift: 0, seconds: 1, from: -0.4)
    let surplus = Self.settle(drift: 0, seconds: 1, from: 0.4)
    #expect(missing.excess > -0.1 && surplus.excess > 0.2)
    // A drift that is not known yet: who speaks too slowly is the one who is not waited for.
    #expect(Self.settle(drift: -0.000_2, seconds: 5).excess > -0.11)
  }

  @Test func ratioIsNeverHeardAsPitch() {
    var control = DriftControl()
    for excess: Int64 in [.min / 2, -1_000_000_000, 1_000_000_000, .max / 2] {
      let ratio = control.ratio(forExcess: excess, over: 5_760)
      #expect(abs(ratio - 1) < 0.002_001)
    }
  }
}
