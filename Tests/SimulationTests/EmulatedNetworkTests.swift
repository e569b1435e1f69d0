import MediaCore
import Simulation
import Testing

struct EmulatedNetworkTests {
  /// Fates of `count` packets 10 ms apart: their delay in milliseconds, nil if lost.
  private func delays(_ conditions: NetworkConditions, seed: UInt64, count: Int) -> [Double?] {
    var network = EmulatedNetwork(conditions, seed: seed)
    return (0..<count).map { index in
      let sent = MonotonicInstant(nanoseconds: Int64(index) * 10_000_000)
      return network.fate(sentAt: sent, byteCount: 100).arrival.map {
        Double($0.nanoseconds(since: sent)) / 1e6
      }
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
    for conditions in NetworkConditions.all where conditions.reorderShare == 0 {
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
      guard conditions.stallIntervalNanoseconds == 0, conditions.routeChanges.isEmpty,
        conditions.spikes == nil
      else { continue }
      // Keeping order adds a little to the jitter that is asked for.
      let mean = sum / Double(fates.count { $0 != nil })
      let asked = Double(conditions.jitterNanoseconds) / 1e6
      #expect(mean >= 0.95 * asked && mean <= 1.2 * asked + 0.01)
    }
  }

  @Test func delayJumpsByTheHeightForTheDurationOfASpike() {
    var conditions = NetworkConditions("spikes", delayMilliseconds: 20)
    conditions.spikes = .init(intervalSeconds: 4, heightMilliseconds: 60...400, milliseconds: 300)
    let fates = delays(conditions, seed: 5, count: 100_000).compactMap(\.self)
    let begins = fates.indices.dropFirst().filter { fates[$0 - 1] == 20 && fates[$0] > 20 }
    // A thousand seconds, and one spike every four.
    #expect(begins.count > 230 && begins.count < 270, "\(begins.count)")
    let heights = begins.map { fates[$0] - 20 }
    #expect(heights.allSatisfy { $0 >= 60 && $0 <= 400 })
    #expect(heights.contains { $0 < 100 } && heights.contains { $0 > 360 })
    for (begin, height) in zip(begins, heights) where begin + 30 < fates.count {
      #expect(fates[begin..<begin + 30].allSatisfy { abs($0 - 20 - height) < 1e-6 })
      #expect(fates[begin + 30] < 19.9 + height)
    }
  }

  @Test func noPacketIsFasterThanTheLeastDelay() {
    var becomesFaster = NetworkConditions("faster", delayMilliseconds: 30, jitterMilliseconds: 1)
    becomesFaster.routeChanges = [
      .init(second: 3, milliseconds: -10), .init(second: 1, milliseconds: 5),
      .init(second: 5, milliseconds: -12), .init(second: 7, milliseconds: 40),
    ]
    // What is to be overtaken is never faster.
    var hurried = NetworkConditions("hurried", delayMilliseconds: 30)
    hurried.reorderShare = 0.5
    hurried.reorderNanoseconds = -20_000_000
    for conditions in NetworkConditions.all + [becomesFaster, hurried] {
      let least = Double(EmulatedNetwork(conditions, seed: 6).leastDelay) / 1e6
      let fates = delays(conditions, seed: 6, count: 1_000).compactMap(\.self)
      #expect(fates.allSatisfy { $0 >= least })
      // It is no more careful than it has to be.
      #expect(fates.min() ?? .infinity < least + 5)
    }
    #expect(EmulatedNetwork(becomesFaster, seed: 6).leastDelay == 13_000_000)
  }

  @Test func noDurationIsTooLong() {
    var endless = NetworkConditions(
      "endless",
      delayMilliseconds: .infinity,
      jitterMilliseconds: 1e300
    )
    endless.routeChanges = [
      .init(second: .nan, milliseconds: 1e300), .init(second: 1, milliseconds: .infinity),
      .init(second: 2, milliseconds: -.infinity),
    ]
    endless.outages = [.init(second: .infinity, milliseconds: .infinity)]
    endless.stallIntervalNanoseconds = .max
    endless.stallNanoseconds = .max
    endless.reorderShare = 1
    endless.reorderNanoseconds = .max
    endless.queueNanoseconds = .max
    endless.linkBitsPerSecond = 1
    endless.duplicateShare = 1
    var network = EmulatedNetwork(endless, seed: 1)
    #expect(network.leastDelay > 1_000_000_000_000)
    var arrived = 0
    for second in 0..<100 {
      let now = MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000)
      guard let arrival = network.fate(sentAt: now, byteCount: 100).arrival else { continue }
      #expect(arrival > now)
      arrived += 1
    }
    #expect(arrived == 100)
  }

  @Test func stallsHoldEverythingBackAndLetItGoAtOnce() throws {
    let fates = delays(.wifiStalls, seed: 5, count: 60_000)
    let stalls = zip([0] + fates, fates).count { ($0 ?? 0) < 100 && ($1 ?? 0) >= 100 }
    #expect((45...75).contains(stalls))
    let longest = try #require(fates.compactMap { $0 }.max())
    #expect(longest > 300 && longest < 460)
  }

  @Test func packetsAreOvertakenAndComeTwiceAsOftenAsStated() {
    var conditions = NetworkConditions("odd", delayMilliseconds: 10)
    conditions.reorderShare = 0.05
    conditions.reorderNanoseconds = 25_000_000
    conditions.duplicateShare = 0.02
    var network = EmulatedNetwork(conditions, seed: 6)
    var arrivals: [MonotonicInstant] = []
    var copies = 0
    for index in 0..<20_000 {
      let sent = MonotonicInstant(nanoseconds: Int64(index) * 10_000_000)
      let fate = network.fate(sentAt: sent, byteCount: 100)
      if let arrival = fate.arrival { arrivals.append(arrival) }
      if fate.copy != nil { copies += 1 }
    }
    let overtaken = zip(arrivals, arrivals.dropFirst()).count { $0 > $1 }
    #expect((800...1_200).contains(overtaken))
    #expect((300...500).contains(copies))
  }

  @Test func narrowLinkQueuesAndDropsWhatWouldWaitTooLong() {
    var conditions = NetworkConditions("narrow", delayMilliseconds: 10)
    conditions.linkBitsPerSecond = 64_000
    conditions.queueNanoseconds = 100_000_000
    var network = EmulatedNetwork(conditions, seed: 7)
    // 102.4 kb/s with headers: more than it carries.
    let fates = (0..<1_000).map { index in
      let sent = MonotonicInstant(nanoseconds: Int64(index) * 10_000_000)
      return network.fate(sentAt: sent, byteCount: 100).arrival.map { $0.nanoseconds(since: sent) }
    }
    #expect(fates[0] == 26_000_000)
    let longest = fates.compactMap { $0 }.max() ?? 0
    #expect(longest > 100_000_000 && longest <= 126_000_000)
    let carried = Double(fates.count { $0 != nil }) / 1_000
    #expect(abs(carried - 0.625) < 0.02)
  }

  @Test func routesChangeAndOutagesLoseAllThatIsSent() {
    var conditions = NetworkConditions("fate", delayMilliseconds: 10)
    conditions.routeChanges = [.init(second: 1, milliseconds: 200)]
    conditions.outages = [.init(second: 2, milliseconds: 500)]
    let fates = delays(conditions, seed: 8, count: 300)
    #expect(fates[99] == 10 && fates[100] == 210)
    #expect(fates[200..<250].allSatisfy { $0 == nil } && fates[250] == 210)
  }
}
