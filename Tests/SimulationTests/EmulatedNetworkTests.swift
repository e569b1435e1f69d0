import MediaTime
import Simulation
import Testing

struct EmulatedNetworkTests {
  /// Fates of `count` packets 10 ms apart: their delay in milliseconds, nil if lost.
  private func delays(_ conditions: NetworkConditions, seed: UInt64, count: Int) -> [Double?] {
    var network = EmulatedNetwork(conditions, seed: seed)
    return (0..<count).map { index in
      let sent = MonotonicInstant(nanoseconds: Int64(index) * 10_000_000)
      return network.arrival(sentAt: sent).map { Double($0.nanoseconds(since: sent)) / 1e6 }
    }
  }

  @Test func theSeedAloneDecides() {
    for conditions in NetworkConditions.all {
      let first = delays(conditions, seed: 1, count: 10_000)
      #expect(first == delays(conditions, seed: 1, count: 10_000))
      let isRandom = conditions.jitterNanoseconds > 0 || conditions.lossShare > 0
      #expect((first == delays(conditions, seed: 2, count: 10_000)) == !isRandom)
    }
  }

  @Test(arguments: [NetworkConditions.lossy5, .lossy10])
  func losesTheStatedShareInTheStatedBursts(conditions: NetworkConditions) {
    let fates = delays(conditions, seed: 3, count: 200_000)
    let lost = fates.count { $0 == nil }
    let bursts = zip([0] + fates, fates).count { $0 != nil && $1 == nil }
    #expect(abs(Double(lost) / 200_000 - conditions.lossShare) < 0.01)
    #expect(abs(Double(lost) / Double(bursts) - conditions.lossBurst) < 0.2)
  }

  @Test func delaysAtLeastAsStatedAndKeepsOrder() {
    for conditions in NetworkConditions.all {
      let fates = delays(conditions, seed: 4, count: 50_000)
      var last = 0.0
      var sum = 0.0
      for (index, delay) in fates.enumerated() {
        guard let delay else { continue }
        #expect(delay >= Double(conditions.delayNanoseconds) / 1e6)
        #expect(Double(index) * 10 + delay >= last)
        last = Double(index) * 10 + delay
        sum += delay - Double(conditions.delayNanoseconds) / 1e6
      }
      guard conditions.stallIntervalNanoseconds == 0 else { continue }
      // Keeping order adds a little to the jitter that is asked for.
      let mean = sum / Double(fates.count { $0 != nil })
      let asked = Double(conditions.jitterNanoseconds) / 1e6
      #expect(mean >= 0.95 * asked && mean <= 1.2 * asked + 0.01)
    }
  }

  @Test func stallsHoldEverythingBackAndLetItGoAtOnce() throws {
    let fates = delays(.wifiStalls, seed: 5, count: 60_000)
    let stalls = zip([0] + fates, fates).count { ($0 ?? 0) < 100 && ($1 ?? 0) >= 100 }
    #expect((45...75).contains(stalls))
    let longest = try #require(fates.compactMap { $0 }.max())
    #expect(longest > 300 && longest < 460)
  }
}
