import MediaCore
import Simulation
import Testing

@testable import Playout

struct PacketStoreTests {
  private static func packet(_ sequence: Int64) -> StoredPacket {
    StoredPacket(
      sequence: sequence,
      mediaFrame: sequence * 480,
      frames: 480,
      isSilence: false,
      redundantFrames: 0
    )
  }

  @Test func packetsAreFoundInOrderWhateverOrderTheyCameIn() {
    var store = PacketStore(capacity: 8)
    for sequence: Int64 in [12, 10, 15, 11] { _ = store.insert(Self.packet(sequence)) }
    var found: [Int64] = []
    var next: Int64 = 0
    while let packet = store.first(from: next) {
      found.append(packet.sequence)
      next = packet.sequence + 1
    }
    #expect(found == [10, 11, 12, 15])
    #expect(store.count == 4 && store.newestFrame == 15 * 480)
    #expect(store.contains(11) && !store.contains(13) && !store.contains(3))
  }

  @Test func packetDisplacesWhatLiesAWholeCapacityBehind() {
    var store = PacketStore(capacity: 8)
    let old = store.insert(Self.packet(3))
    let new = store.insert(Self.packet(11))
    #expect(old == new && store.count == 1)
    #expect(!store.contains(3) && store.first(from: 0)?.sequence == 11)
  }

  @Test func whatIsRemovedIsGoneAndCountedOnce() {
    var store = PacketStore(capacity: 8)
    for sequence: Int64 in 20..<26 { _ = store.insert(Self.packet(sequence)) }
    store.remove(22)
    store.remove(22)
    store.remove(14)
    #expect(store.count == 5)
    store.removeAll(before: 24)
    #expect(store.count == 2 && store.first(from: 0)?.sequence == 24)
    store.removeAll(before: .max)
    #expect(store.count == 0 && store.first(from: 0) == nil)
    store.removeAll()
    #expect(store.newestFrame == 0)
  }

  /// The store agrees with a dictionary for sequence numbers that jump and return.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func storeAgreesWithADictionary(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var store = PacketStore(capacity: 16)
    var model: [Int64: StoredPacket] = [:]
    var newest: Int64 = 1_000
    var floor: Int64 = 0
    for _ in 0..<20_000 {
      switch generator.next() % 8 {
      case 0..<5:
        let sequence = max(floor, newest + Int64(generator.next() % 12) - 8)
        newest = max(newest, sequence)
        _ = store.insert(Self.packet(sequence))
        model[sequence] = Self.packet(sequence)
        model = model.filter { $0.key == sequence || ($0.key - sequence) % 16 != 0 }
      case 5:
        let sequence = newest - Int64(generator.next() % 16)
        store.remove(sequence)
        model[sequence] = nil
      case 6:
        floor = max(floor, newest - Int64(generator.next() % 16))
        store.removeAll(before: floor)
        model = model.filter { $0.key >= floor }
      default:
        let from = newest - Int64(generator.next() % 24)
        let found = store.first(from: from)?.sequence
        let expected = model.keys.filter { $0 >= from && $0 > newest - 16 }.min()
        #expect(found == expected, "seed \(seed)")
      }
      // What lies further back than the capacity is not looked for.
      model = model.filter { $0.key > newest - 16 }
    }
  }

  @Test func recentNumbersAreRememberedAndOldOnesForgotten() {
    var recent = RecentSequences()
    #expect(!recent.contains(0) && !recent.contains(-1))
    for sequence: Int64 in [100, 98, 101] { recent.insert(sequence) }
    #expect(recent.contains(98) && recent.contains(100) && recent.contains(101))
    #expect(!recent.contains(99) && !recent.contains(102))
    recent.insert(161)
    #expect(recent.contains(98) && recent.contains(161), "63 back is still known")
    recent.insert(162)
    #expect(!recent.contains(98) && recent.contains(100))
    recent.insert(10_000)
    #expect(!recent.contains(162) && recent.contains(10_000))
    recent.insert(5)
    #expect(!recent.contains(5), "too old to be noted")
    recent.reset()
    #expect(!recent.contains(10_000))
  }
}

/// The estimate of delays, and the worth of waiting that follows from it.
struct DelayHistogramTests {
  private static let price = DelayHistogram.Price(
    anywhere: 64e9,
    usual: 200e9,
    usualEnd: 50_000_000
  )

  private static func histogram(_ delays: [Double], packet milliseconds: Int64 = 10)
    -> DelayHistogram
  {
    var histogram = DelayHistogram()
    for delay in delays {
      histogram.add(delay: Int64(delay * 1e6), duration: milliseconds * 1_000_000)
    }
    return histogram
  }

  /// Milliseconds at which waiting longer costs more than it saves.
  private static func cheapest(_ delays: [Double]) -> Double {
    var histogram = histogram(delays)
    return Double(histogram.cheapest(at: price)) / 1e6
  }

  @Test func nothingKnownAsksForNoWait() {
    #expect(Self.cheapest([]) == 0)
    let empty = DelayHistogram()
    let (median, mean) = (empty.quantile(0.5), empty.mean)
    #expect(median == 0 && mean == 0)
  }

  @Test func steadyDelayIsWaitedForAndNoMore() {
    let wait = Self.cheapest([Double](repeating: 5, count: 4_000))
    #expect(wait > 4.5 && wait < 5.5)
  }

  @Test func fewLatePacketsAreWaitedForIfThatIsCheap() {
    // One in fifty is 20 ms late: a fiftieth of the packets is worth much more than 20 ms.
    let often = Self.cheapest((0..<4_000).map { $0 % 50 == 0 ? 20 : 2 })
    #expect(often > 19 && often < 21)
    // One in four thousand that is half a second late is not worth half a second.
    let seldom = Self.cheapest((0..<4_000).map { $0 == 2_000 ? 500 : 2 })
    #expect(seldom < 5)
  }

  @Test func firstLatePacketIsNotTakenForTheRule() {
    // Of three packets one was late by 200 ms: that is not a third of all that will come.
    #expect(Self.cheapest([2, 200, 2]) < 30)
  }

  @Test func memoryFades() {
    let bad = [Double](repeating: 30, count: 1_000)
    let soon = Self.cheapest(bad + [Double](repeating: 2, count: 500))
    let later = Self.cheapest(bad + [Double](repeating: 2, count: 60_000))
    #expect(soon > 25 && later < 4, "after ten minutes: \(later)")
  }

  @Test func quantilesAndMean() {
    let histogram = Self.histogram((0..<1_000).map { Double($0 % 10) })
    let (median, most) = (histogram.quantile(0.5), histogram.quantile(0.99))
    let mean = Double(histogram.mean)
    #expect(abs(Double(median) / 1e6 - 5) < 1 && abs(Double(most) / 1e6 - 9) < 0.6)
    #expect(abs(mean / 1e6 - 4.5) < 0.5)
  }

  @Test func shiftFollowsAPathThatBecameSlower() {
    var histogram = Self.histogram((0..<1_000).map { $0 < 500 ? 1 : 21 })
    histogram.shift(by: 20_000_000)
    let highest = histogram.quantile(1)
    #expect(highest <= 1_500_000, "all lie at 1 ms now")
    histogram.shift(by: -10_000_000)
    let lifted = histogram.quantile(0.01)
    #expect(abs(Double(lifted) / 1e6 - 11) < 0.5)
    // Beyond the range nothing is lost, nor does it trap.
    histogram.shift(by: .max / 2)
    histogram.shift(by: -(.max / 2))
    let beyond = histogram.quantile(0.5)
    #expect(beyond > 0)
  }

  @Test func copiesAreWaitedForWhereTheyGainEnough() {
    func target(lostShare: Int) -> Double {
      var histogram = DelayHistogram()
      for index in 0..<4_000 {
        if lostShare > 0, index % lostShare == 0 {
          histogram.addRecovery(distance: 20_000_000)
        }
        histogram.add(delay: 2_000_000, duration: 20_000_000)
      }
      return Double(histogram.cheapest(at: Self.price)) / 1e6
    }
    #expect(target(lostShare: 0) < 3)
    #expect(target(lostShare: 20) > 21, "a copy comes 20 ms after its packet")
    #expect(target(lostShare: 4_000) < 3, "one loss is no habit")
  }

  @Test func numbersStayFiniteOverAWeek() {
    var histogram = DelayHistogram()
    // As many packets weigh as a week has forgetting: it rescales several times.
    for _ in 0..<40_000 { histogram.add(delay: 3_000_000, duration: 60_000_000_0) }
    let target = histogram.cheapest(at: Self.price)
    #expect(target > 2_500_000 && target < 3_500_000)
  }
}
