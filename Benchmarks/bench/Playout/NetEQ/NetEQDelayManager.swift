/// NetEQ's choice of a target delay, after the description of its design.
///
/// It is the 95 % quantile of the largest delays in half seconds, in steps of 20 ms, or the delay
/// that reordered packets are worth, whichever is larger.
struct NetEQDelayManager {
  /// Histogram as shares of observations by bucket, in which older observations fade.
  private struct Histogram {
    var shares = [Double](repeating: 0, count: 100)
    var count = 0.0
    let forgetting: Double

    mutating func add(_ bucket: Int) {
      count += 1
      let keep = min(forgetting, 1 - 2 / (count + 1))
      for index in shares.indices { shares[index] *= keep }
      shares[min(max(0, bucket), shares.count - 1)] += 1 - keep
    }

    func quantile(_ share: Double) -> Int {
      var sum = 0.0
      for (index, value) in shares.enumerated() {
        sum += value
        if sum >= share { return index }
      }
      return shares.count - 1
    }
  }

  private static let bucket = 20.0
  private static let windowMilliseconds = 2_000.0
  private static let intervalMilliseconds = 500.0
  private static let costPerLossPercent = 20.0

  private(set) var targetMilliseconds = 80.0
  private var underrun = Histogram(forgetting: 0.983)
  private var reorder = Histogram(forgetting: 0.9993)
  private var history: [(at: Double, transit: Double)] = []
  private var newest = -Double.infinity
  private var intervalEnd: Double?
  private var intervalMaximum = 0.0
  private var underrunTarget: Double?

  /// Delay of the slowest packet of the last two seconds beyond the fastest one, in milliseconds.
  var largestDelay: Double {
    guard let fastest = history.map(\.transit).min(), let slowest = history.map(\.transit).max()
    else { return 0 }
    return slowest - fastest
  }

  /// Returns how much later the sound of media time `media` plays at `now` than it would after the
  /// delay of the fastest packet of the last two seconds, in milliseconds.
  func playoutDelay(media: Double, now: Double) -> Double {
    history.map(\.transit).min().map { now - media - $0 } ?? 0
  }

  /// Takes in a packet that came at tick time `now` with the sound of media time `media`, both in
  /// milliseconds.
  mutating func update(media: Double, now: Double) {
    let transit = now - media
    history.removeAll { now - $0.at > Self.windowMilliseconds }
    history.append((now, transit))
    let fastest = history.map(\.transit).min() ?? transit
    let delay = transit - fastest
    let isReordered = media < newest
    newest = max(newest, media)

    let end = intervalEnd ?? now + Self.intervalMilliseconds
    intervalEnd = end
    if now >= end {
      underrun.add(Int(intervalMaximum / Self.bucket))
      underrunTarget = Double(underrun.quantile(0.95) + 1) * Self.bucket
      intervalMaximum = 0
      intervalEnd = now + Self.intervalMilliseconds
    }
    if !isReordered { intervalMaximum = max(intervalMaximum, delay) }
    reorder.add(isReordered ? Int(delay / Self.bucket) : 0)
    guard let underrunTarget else { return }
    // Three quarters of a buffer of two hundred packets is beyond what is simulated.
    targetMilliseconds = max(underrunTarget, reorderTarget)
  }

  private var reorderTarget: Double {
    var lossPercent = 100.0
    var best = (cost: Double.infinity, delay: 0.0)
    for (index, share) in reorder.shares.enumerated() {
      lossPercent -= 100 * share
      let delay = Double(index) * Self.bucket
      let more = max(0, delay - (underrunTarget ?? 0))
      let cost = more + Self.costPerLossPercent * max(0, lossPercent)
      if cost < best.cost { best = (cost, delay + Self.bucket) }
    }
    return best.delay
  }
}
