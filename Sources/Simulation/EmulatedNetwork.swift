import Glibc
public import MediaTime

/// One direction of a network: tells when each packet arrives, or that it does not.
///
/// The order is kept, as a queue keeps it. The same seed and the same times of sending give the same
/// fates. **Thread safety:** one thread at a time.
public struct EmulatedNetwork: Sendable {
  private let conditions: NetworkConditions
  private var generator: SeededGenerator
  private var isLosing = false
  private var jitter = 0.0
  private var lastArrival: MonotonicInstant?
  private var nextStall: MonotonicInstant?
  private var stallEnd: MonotonicInstant?

  /// How much of a packet's jitter the next one shares: packets 10 ms apart meet much the same queue.
  private static let correlation = 0.5

  /// A network of which every random choice follows from `seed`.
  public init(_ conditions: NetworkConditions, seed: UInt64) {
    self.conditions = conditions
    generator = SeededGenerator(seed: seed)
  }

  /// When a packet arrives that is sent at `instant`, which is not before the last one; nil if it is lost.
  public mutating func arrival(sentAt instant: MonotonicInstant) -> MonotonicInstant? {
    let isLost = takeLoss()
    let delay = conditions.delayNanoseconds + takeJitter()
    var arrival = max(instant.advanced(byNanoseconds: delay), stallEnd(at: instant))
    if let lastArrival { arrival = max(arrival, lastArrival) }
    guard !isLost else { return nil }
    lastArrival = arrival
    return arrival
  }

  // Gilbert: r = 1 / mean burst, p = loss * r / (1 - loss).
  private mutating func takeLoss() -> Bool {
    guard conditions.lossShare > 0 else { return false }
    let leave = 1 / max(1, conditions.lossBurst)
    let enter = conditions.lossShare * leave / max(1e-9, 1 - conditions.lossShare)
    isLosing = unit() < (isLosing ? 1 - leave : enter)
    return isLosing
  }

  private mutating func takeJitter() -> Int64 {
    guard conditions.jitterNanoseconds > 0 else { return 0 }
    let fresh = -Double(conditions.jitterNanoseconds) * log(1 - unit())
    jitter = Self.correlation * jitter + (1 - Self.correlation) * fresh
    return Int64(jitter)
  }

  private mutating func stallEnd(at instant: MonotonicInstant) -> MonotonicInstant {
    guard conditions.stallIntervalNanoseconds > 0 else { return instant }
    if let nextStall {
      if instant >= nextStall {
        let length = Double(conditions.stallNanoseconds) * (0.25 + 0.75 * unit())
        stallEnd = nextStall.advanced(byNanoseconds: Int64(length))
        self.nextStall = nextStall.advanced(byNanoseconds: stallInterval())
      }
    } else {
      nextStall = instant.advanced(byNanoseconds: stallInterval())
    }
    return max(instant, stallEnd ?? instant)
  }

  private mutating func stallInterval() -> Int64 {
    Int64(Double(conditions.stallIntervalNanoseconds) * (0.5 + unit()))
  }

  // From 0 up to, not including, 1.
  private mutating func unit() -> Double {
    Double(generator.next() >> 11) * 0x1p-53
  }
}
