import MediaCore

/// Running minimum of the last two seconds, robust to single low outliers.
///
/// Twenty slots of 100 ms hold a minimum each: constant memory and work, whatever the packet rate.
/// The result is the third smallest of them, or the smallest or second smallest while fewer than 8
/// or 16 slots are filled. The smallest alone would depend on one fast packet, and its variation
/// would count as jitter.
struct BaselineEstimator: ~Copyable {
  private static var slotCount: Int { 20 }
  private static var slotNanoseconds: Int64 { 100_000_000 }

  private let mechanisms: PlayoutMechanisms
  private var slots = FixedArray<Int64>(repeating: .max, count: 20)
  private var currentSlot: Int64 = .min
  /// Baseline as of the last time a slot began or its minimum fell.
  private var settled = Int64.max
  private var settledSlot: Int64 = .min

  init(_ mechanisms: PlayoutMechanisms = PlayoutMechanisms()) { self.mechanisms = mechanisms }

  /// Records `value`, observed at `now`, and returns the baseline of the window.
  @_noAllocation @_noLocks
  mutating func update(_ value: Int64, at now: MonotonicInstant) -> Int64 {
    let slot = now.nanoseconds / Self.slotNanoseconds
    if slot > currentSlot {
      let passed = currentSlot == .min ? Int64(Self.slotCount) : slot - currentSlot
      for step in 0..<min(passed, Int64(Self.slotCount)) {
        slots[index(of: slot - step)] = .max
      }
      currentSlot = slot
    }
    let here = index(of: currentSlot)
    let isLower = value < slots[here]
    if isLower { slots[here] = value }
    if isLower || slot > settledSlot {
      settledSlot = currentSlot
      settled = thirdSmallest
    }
    return settled
  }

  private var thirdSmallest: Int64 {
    @_noAllocation @_noLocks get {
      var (first, second, third) = (Int64.max, Int64.max, Int64.max)
      var known = 0
      for position in 0..<Self.slotCount where slots[position] < .max {
        let value = slots[position]
        known += 1
        if value < first {
          (first, second, third) = (value, first, second)
        } else if value < second {
          (second, third) = (value, second)
        } else if value < third {
          third = value
        }
      }
      return known < 8 || !mechanisms.thirdLowest ? first : known < 16 ? second : third
    }
  }

  /// Raises all stored minima by `difference` nanoseconds, when all packets are to arrive later by
  /// that much.
  @_noAllocation @_noLocks
  mutating func raise(by difference: Int64) {
    for position in 0..<Self.slotCount where slots[position] < .max {
      slots[position] += difference
    }
    settled = thirdSmallest
  }

  @_noAllocation @_noLocks
  mutating func reset() {
    for position in 0..<Self.slotCount { slots[position] = .max }
    currentSlot = .min
    settledSlot = .min
  }

  @_noAllocation @_noLocks
  private func index(of slot: Int64) -> Int {
    let remainder = Int(slot % Int64(Self.slotCount))
    return remainder < 0 ? remainder + Self.slotCount : remainder
  }
}
