import MediaCore

/// Decaying histogram of packet delays, which finds the delay that is worth waiting for.
///
/// Buckets of a quarter millisecond up to 512 ms; longer delays count in the last one. Each new
/// packet weighs more than the one before, so older ones decay without touching every bucket.
struct DelayHistogram: ~Copyable {
  static var bucketNanoseconds: Int64 { @_noAllocation @_noLocks get { 250_000 } }
  private static var bucketCount: Int { 2_048 }
  /// Decay time: after this many nanoseconds of stream, an observation counts 1/e of a new one.
  private static var memoryNanoseconds: Double { 40e9 }
  /// Scale, in nanoseconds, of the cost of lateness: a packet late by t costs (1 - exp(-t /
  /// latenessScale))^2 of a very late one.
  ///
  /// Only the frames concealed until it arrives are lost, and half a millisecond of them is hardly
  /// audible.
  private static var latenessScale: Float { @_noAllocation @_noLocks get { 2e6 } }

  private let mechanisms: PlayoutMechanisms
  private var weights = FixedArray<Float>(repeating: 0, count: 2_048)
  private var total: Float = 0
  /// Weighted sum of all delays, in buckets, each limited to 16 more than four times the mean.
  private var sum: Float = 0
  /// Weights of lost packets that a later packet repeated; `distances` holds how many buckets
  /// later the repeating packets were sent.
  private var recoverable = FixedArray<Float>(repeating: 0, count: 8)
  private var distances = FixedArray<Int>(repeating: 0, count: 8)
  /// Number of entries of `recoverable` and `distances` in use: 0 on most links, which lose no
  /// packets.
  private var distanceCount = 0
  /// Scratch for `cheapest`: weighted cost of the packets that arrive in a bucket or later.
  private var later = FixedArray<Float>(repeating: 0, count: 4_097)
  private var nextWeight: Float = 1
  /// Number of packets as long as the newest one that fit into `memoryNanoseconds`.
  private var packetsRemembered: Float = 0
  /// Index of the highest bucket that is not empty; 0 if all are.
  private var highest = 0

  init(_ mechanisms: PlayoutMechanisms = PlayoutMechanisms()) { self.mechanisms = mechanisms }

  /// Adds one packet that arrived `delay` nanoseconds behind the fastest and lasts `duration`
  /// nanoseconds.
  @_noAllocation @_noLocks
  mutating func add(delay: Int64, duration: Int64) {
    let bucket = min(Int(max(0, delay) / Self.bucketNanoseconds), Self.bucketCount - 1)
    weights[bucket] += nextWeight
    highest = max(highest, bucket)
    sum += nextWeight * usual(bucket)
    total += nextWeight
    packetsRemembered = Float(Self.memoryNanoseconds / Double(max(1_000_000, duration)))
    nextWeight *= Float(1 + Double(duration) / Self.memoryNanoseconds)
    if nextWeight > 1e6 { rescale() }
  }

  /// Records that a packet was lost and repeated by one sent `distance` nanoseconds later.
  @_noAllocation @_noLocks
  mutating func addRecovery(distance: Int64) {
    let wanted = min(Int(max(0, distance) / Self.bucketNanoseconds), Self.bucketCount - 1)
    // A new distance replaces the one with the least weight.
    var place = 0
    for index in 0..<distanceCount {
      if recoverable[index] > 0, distances[index] == wanted {
        return recoverable[index] += nextWeight
      }
      if recoverable[index] < recoverable[place] { place = index }
    }
    if distanceCount < recoverable.count {
      place = distanceCount
      distanceCount += 1
    }
    distances[place] = wanted
    recoverable[place] = nextWeight
  }

  /// Prices of missing packets and of delay, in nanoseconds of delay.
  ///
  /// Missing packets cost their share times `anywhere`, or times `usual` at delays up to
  /// `usualEnd`; `cheapest` returns the longer of the two delays. Delay beyond `feltAfter` costs
  /// `feltFactor` times as much.
  struct Price {
    let anywhere: Float
    let usual: Float
    let usualEnd: Int64
    let feltAfter: Int64
    let feltFactor: Float

    @_noAllocation @_noLocks
    init(
      anywhere: Float,
      usual: Float,
      usualEnd: Int64,
      feltAfter: Int64 = .max,
      feltFactor: Float = 1
    ) {
      self.anywhere = anywhere
      self.usual = usual
      self.usualEnd = usualEnd
      self.feltAfter = feltAfter
      self.feltFactor = feltFactor
    }

    /// Returns the cost of `delay` nanoseconds, with the surcharge beyond `feltAfter`.
    @_noAllocation @_noLocks
    func cost(of delay: Float) -> Float {
      delay + (feltFactor - 1) * max(0, delay - Float(feltAfter))
    }
  }

  /// Returns the delay, in nanoseconds, beyond which waiting costs more than it saves; 0 before the
  /// first packet.
  ///
  /// It is the longer of two minima of delay plus the cost of missing packets: over all delays at
  /// `price.anywhere`, and over delays up to `price.usualEnd` at `price.usual`. A packet is missing
  /// if it arrives later than the delay; a lost one, if its copy does. Slightly late packets cost
  /// less (`latenessScale`). Shares are of a full memory even before it has filled, so that the
  /// first late packet of a call does not count as usual.
  @_noAllocation @_noLocks
  mutating func cheapest(at price: Price) -> Int64 {
    guard total > 0 else { return 0 }
    let scale = 1 / (mechanisms.wholeMemory ? max(total, nextWeight * packetsRemembered) : total)
    var choice = Choice(price)
    var lost: Float = 0
    var farthest = 0
    for index in 0..<distanceCount where recoverable[index] > 0 {
      lost += recoverable[index]
      farthest = max(farthest, distances[index])
    }
    // One loss is no habit.
    guard mechanisms.copies, lost > 1.5 * nextWeight else {
      chooseWithoutCopies(scale: scale, &choice)
      return choice.delay
    }
    let copyScale = scale * (lost - nextWeight) / (lost * total)
    // A copy arrives `distance` later than the packet that carries it, so it is looked up that many
    // buckets lower; the offset `farthest` keeps the index positive.
    let top = min(highest + farthest + 1, Self.bucketCount)
    var tail = Tail(mechanisms.latenessKernel)
    var place = top + farthest
    later[place] = 0
    while place > 0 {
      place -= 1
      tail.add(place >= farthest ? weights[place - farthest] : 0)
      later[place] = tail.cost
    }
    var bucket = top
    while bucket > 0 {
      var missing: Float = 0
      for index in 0..<distanceCount where recoverable[index] > 0 {
        missing += recoverable[index] * later[bucket + farthest - distances[index]]
      }
      choice.consider(bucket, missing: scale * later[bucket + farthest] + copyScale * missing)
      bucket -= 1
    }
    return choice.delay
  }

  @_noAllocation @_noLocks
  private func chooseWithoutCopies(scale: Float, _ choice: inout Choice) {
    var tail = Tail(mechanisms.latenessKernel)
    var bucket = highest + 1
    choice.consider(bucket, missing: 0)
    // From the top: the tail is short, and small sums keep their precision.
    while bucket > 1 {
      bucket -= 1
      tail.add(weights[bucket])
      choice.consider(bucket, missing: scale * tail.cost)
    }
  }

  /// Cheapest bucket so far at each of the two prices; the later one is chosen.
  private struct Choice {
    private let price: Price
    private var best = 1
    private var usualBest = 1
    private var lowest = Float.infinity
    private var usualLowest = Float.infinity

    @_noAllocation @_noLocks
    init(_ price: Price) { self.price = price }

    /// Considers waiting for `bucket`, which leaves out the weighted share `missing` of the
    /// packets.
    @_noAllocation @_noLocks
    mutating func consider(_ bucket: Int, missing: Float) {
      let delay = price.cost(of: Float(bucket) * Float(bucketNanoseconds))
      let cost = delay + price.anywhere * missing
      if cost < lowest {
        lowest = cost
        best = bucket
      }
      guard Int64(bucket) * bucketNanoseconds <= price.usualEnd else { return }
      let usualCost = delay + price.usual * missing
      if usualCost < usualLowest {
        usualLowest = usualCost
        usualBest = bucket
      }
    }

    /// Chosen delay, in nanoseconds.
    var delay: Int64 {
      @_noAllocation @_noLocks get { Int64(max(best, usualBest)) * bucketNanoseconds }
    }
  }

  /// Running cost of the packets in a bucket and above if playout waits only for the bucket below.
  private struct Tail {
    /// exp(-1/8) and exp(-1/4): `latenessScale` is eight buckets.
    private static var decay: Float { @_noAllocation @_noLocks get { 0.882_497 } }
    private static var fastDecay: Float { @_noAllocation @_noLocks get { 0.778_801 } }

    private var all: Float = 0
    private var near: Float = 0
    private var nearer: Float = 0

    private let isSoft: Bool

    @_noAllocation @_noLocks init(_ isSoft: Bool) { self.isSoft = isSoft }

    /// Moves down to the next lower bucket, which holds `weight`.
    @_noAllocation @_noLocks
    mutating func add(_ weight: Float) {
      all += weight
      near = Self.decay * (near + weight)
      nearer = Self.fastDecay * (nearer + weight)
    }

    // (1 - x)^2 = 1 - 2x + x^2, summed up.
    var cost: Float { @_noAllocation @_noLocks get { isSoft ? all - 2 * near + nearer : all } }
  }

  /// Returns the mean cost of late packets relative to very late ones, if their lateness is
  /// distributed exponentially with a mean of `mean` nanoseconds.
  @_noAllocation @_noLocks
  static func costOfLateness(mean: Float) -> Float {
    1 - 2 * latenessScale / (latenessScale + mean) + latenessScale / (latenessScale + 2 * mean)
  }

  /// Returns the upper edge, in nanoseconds, of the bucket in which `share` of the packets is
  /// reached.
  @_noAllocation @_noLocks
  func quantile(_ share: Float) -> Int64 {
    guard total > 0 else { return 0 }
    var above: Float = 0
    let allowed = total * (1 - share)
    var bucket = highest + 1
    while bucket > 0 {
      above += weights[bucket - 1]
      if above > allowed { return Int64(bucket) * Self.bucketNanoseconds }
      bucket -= 1
    }
    return Self.bucketNanoseconds
  }

  /// Subtracts `step` nanoseconds from every delay that is at least as large, or adds its magnitude
  /// to all delays if it is negative.
  ///
  /// Smaller delays were measured before the step and are right as they are.
  @_noAllocation @_noLocks
  mutating func shift(by step: Int64) {
    if step < 0 { return lift(by: min(Int(-step / Self.bucketNanoseconds), Self.bucketCount)) }
    let buckets = min(Int(step / Self.bucketNanoseconds), Self.bucketCount)
    guard buckets > 0 else { return }
    defer { addUp() }
    guard buckets < Self.bucketCount else {
      // Beyond the range: what was clamped into the last bucket was the step itself.
      weights[0] += weights[Self.bucketCount - 1]
      weights[Self.bucketCount - 1] = 0
      return
    }
    for bucket in buckets..<Self.bucketCount {
      weights[bucket - buckets] += weights[bucket]
      weights[bucket] = 0
    }
  }

  /// Adapts the delays to a callback period that falls from `long` to `short` nanoseconds.
  ///
  /// Delays within the old period are scaled, since waits are spread over the period; the
  /// difference is subtracted from longer delays.
  @_noAllocation @_noLocks
  mutating func shrinkWaits(from long: Int64, to short: Int64) {
    let before = min(Int(long / Self.bucketNanoseconds), Self.bucketCount)
    let after = min(Int(short / Self.bucketNanoseconds), before)
    guard after < before else { return }
    for bucket in 1..<Self.bucketCount {
      let scaled = bucket < before ? bucket * after / before : bucket - before + after
      weights[scaled] += weights[bucket]
      weights[bucket] = 0
    }
    addUp()
  }

  @_noAllocation @_noLocks
  private mutating func lift(by buckets: Int) {
    guard buckets > 0 else { return }
    var bucket = Self.bucketCount
    while bucket > 0 {
      bucket -= 1
      let weight = weights[bucket]
      weights[bucket] = 0
      weights[min(bucket + buckets, Self.bucketCount - 1)] += weight
    }
    addUp()
  }

  /// Mean delay in nanoseconds, which stalls hardly affect; 0 before the first packet.
  var mean: Float {
    @_noAllocation @_noLocks get {
      total > 0 ? sum / total * Float(Self.bucketNanoseconds) : 0
    }
  }

  @_noAllocation @_noLocks
  private mutating func rescale() {
    for bucket in 0..<Self.bucketCount {
      weights[bucket] /= nextWeight
      if weights[bucket] < 1e-6 { weights[bucket] = 0 }
    }
    for index in 0..<distanceCount {
      recoverable[index] /= nextWeight
      if recoverable[index] < 1e-6 { recoverable[index] = 0 }
    }
    nextWeight = 1
    addUp()
  }

  // One stall is no jitter.
  @_noAllocation @_noLocks
  private func usual(_ bucket: Int) -> Float {
    let limit = total > 0 ? 4 * sum / total + 16 : 16
    return Float(bucket) < limit ? Float(bucket) : limit
  }

  @_noAllocation @_noLocks
  private mutating func addUp() {
    var (total, sum): (Float, Float) = (0, 0)
    highest = 0
    for bucket in 0..<Self.bucketCount where weights[bucket] > 0 {
      highest = bucket
      total += weights[bucket]
      sum += weights[bucket] * usual(bucket)
    }
    self.total = total
    self.sum = sum
  }
}
