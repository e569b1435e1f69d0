import Glibc
package import MediaCore

/// One direction of a network, which decides when each packet arrives, or that it is lost.
///
/// Packets stay in order, as in a queue, except those that are to be overtaken. The same seed and
/// the same times of sending give the same outcomes.
///
/// **Thread safety:** one thread at a time.
package struct EmulatedNetwork: Sendable {
  /// Outcome of sending a packet.
  package struct DeliveryOutcome: Equatable, Sendable {
    /// Time of its arrival, nil if it is lost.
    package var arrival: MonotonicInstant?
    /// Time at which a duplicate arrives, nil if there is none.
    package var copy: MonotonicInstant?
  }

  private let conditions: NetworkConditions
  private var generator: SeededGenerator
  private var isLosing = false
  private var jitter = 0.0
  private var begin: MonotonicInstant?
  private var lastArrival: MonotonicInstant?
  private var nextStall: MonotonicInstant?
  private var stallEnd: MonotonicInstant?
  private var linkFree: MonotonicInstant?
  /// Beginning of the present or next spike, and its additional delay in nanoseconds.
  private var spike: (begin: MonotonicInstant, height: Int64)?

  /// Correlation of the jitter of consecutive packets, 0 to 1.
  ///
  /// Packets 10 ms apart meet much the same queue.
  private static let correlation = 0.5

  /// Creates a network of which every random choice follows from `seed`.
  package init(_ conditions: NetworkConditions, seed: UInt64) {
    self.conditions = conditions.bounded
    generator = SeededGenerator(seed: seed)
  }

  /// Delay of the fastest packet on the fastest path, in nanoseconds.
  package var leastDelay: Int64 {
    var (least, sum): (Int64, Int64) = (0, 0)
    for change in conditions.routeChanges.sorted(by: { $0.at < $1.at }) {
      sum += change.delayNanoseconds
      least = min(least, sum)
    }
    return max(0, conditions.delayNanoseconds + least)
  }

  /// Returns the outcome for a packet of `byteCount` bytes that is sent at `instant`.
  ///
  /// Packets are to be passed in the order of their sending.
  package mutating func fate(sentAt instant: MonotonicInstant, byteCount: Int) -> DeliveryOutcome {
    let begin = begin ?? instant
    self.begin = begin
    let age = instant.nanoseconds(since: begin)
    let isLost = takeLoss() || isOut(at: age)
    let delay =
      conditions.delayNanoseconds + takeJitter() + routeDelay(at: age) + spikeDelay(at: instant)
    var arrival = max(instant.advanced(byNanoseconds: delay), stallEnd(at: instant))
    guard let queueing = takeLink(byteCount, at: instant), !isLost else {
      return DeliveryOutcome(arrival: nil, copy: nil)
    }
    arrival = arrival.advanced(byNanoseconds: queueing)
    if isChosen(conditions.reorderShare) {
      arrival = arrival.advanced(byNanoseconds: conditions.reorderNanoseconds)
    } else {
      if let lastArrival { arrival = max(arrival, lastArrival) }
      lastArrival = arrival
    }
    let isTwice = isChosen(conditions.duplicateShare)
    return DeliveryOutcome(
      arrival: arrival,
      copy: isTwice ? arrival.advanced(byNanoseconds: 1_000_000) : nil
    )
  }

  // Gilbert: r = 1 / mean burst, p = loss * r / (1 - loss).
  private mutating func takeLoss() -> Bool {
    guard conditions.lossShare > 0 else { return false }
    let leave = 1 / max(1, conditions.lossBurst)
    let enter = conditions.lossShare * leave / max(1e-9, 1 - conditions.lossShare)
    isLosing = generator.unit() < (isLosing ? 1 - leave : enter)
    return isLosing
  }

  private func isOut(at age: Int64) -> Bool {
    conditions.outages.contains { age >= $0.at && age - $0.at < $0.nanoseconds }
  }

  private func routeDelay(at age: Int64) -> Int64 {
    conditions.routeChanges.reduce(0) { $0 + (age >= $1.at ? $1.delayNanoseconds : 0) }
  }

  private mutating func spikeDelay(at instant: MonotonicInstant) -> Int64 {
    guard let spikes = conditions.spikes else { return 0 }
    var current = spike ?? nextSpike(after: instant, spikes)
    while instant.nanoseconds(since: current.begin) >= spikes.nanoseconds {
      current = nextSpike(after: current.begin, spikes)
    }
    spike = current
    return instant >= current.begin ? current.height : 0
  }

  private mutating func nextSpike(
    after instant: MonotonicInstant,
    _ spikes: NetworkConditions.Spikes
  ) -> (begin: MonotonicInstant, height: Int64) {
    let pause = Double(spikes.intervalNanoseconds) * (0.5 + generator.unit())
    let (low, high) = (spikes.heightNanoseconds.lowerBound, spikes.heightNanoseconds.upperBound)
    let height = Double(high - low) * generator.unit()
    return (instant.advanced(byNanoseconds: Int64(pause)), low + Int64(height))
  }

  private mutating func takeJitter() -> Int64 {
    guard conditions.jitterNanoseconds > 0 else { return 0 }
    let fresh = -Double(conditions.jitterNanoseconds) * log(1 - generator.unit())
    jitter = Self.correlation * jitter + (1 - Self.correlation) * fresh
    return Int64(jitter)
  }

  // How long the packet waits for the link and occupies it; nil if the queue is full.
  private mutating func takeLink(_ byteCount: Int, at instant: MonotonicInstant) -> Int64? {
    guard conditions.linkBitsPerSecond > 0 else { return 0 }
    let free = max(instant, linkFree ?? instant)
    let wait = free.nanoseconds(since: instant)
    guard wait <= conditions.queueNanoseconds else { return nil }
    // With the headers of IPv4 and UDP.
    let bits = Int64(byteCount + 28) * 8
    let passage = bits * 1_000_000_000 / Int64(conditions.linkBitsPerSecond)
    linkFree = free.advanced(byNanoseconds: passage)
    return wait + passage
  }

  private mutating func stallEnd(at instant: MonotonicInstant) -> MonotonicInstant {
    guard conditions.stallIntervalNanoseconds > 0 else { return instant }
    if let nextStall {
      if instant >= nextStall {
        let length = Double(conditions.stallNanoseconds) * (0.25 + 0.75 * generator.unit())
        stallEnd = nextStall.advanced(byNanoseconds: Int64(length))
        self.nextStall = nextStall.advanced(byNanoseconds: stallInterval())
      }
    } else {
      nextStall = instant.advanced(byNanoseconds: stallInterval())
    }
    return max(instant, stallEnd ?? instant)
  }

  private mutating func stallInterval() -> Int64 {
    Int64(Double(conditions.stallIntervalNanoseconds) * (0.5 + generator.unit()))
  }

  // Draws only for what can happen, so that what a network gains later leaves the fates of the
  // others alone.
  private mutating func isChosen(_ share: Double) -> Bool { share > 0 && generator.unit() < share }
}
