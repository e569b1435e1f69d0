import MediaCore

/// Trust level of a link for packets of one duration.
///
/// A link is trusted at first, since most links bear such packets. Too much loss or jitter, or a
/// queue, ends that at once. Then the link has to look well for a while, longer after each failure.
struct LinkTrust: Sendable, BitwiseCopyable {
  /// Condition of a link, as reported by the far side and known to this side.
  struct Condition: Sendable, BitwiseCopyable {
    /// Share of packets that are lost, 0 to 1.
    let lossShare: Double
    /// The jitter (RFC 3550 section 6.4.1), in nanoseconds.
    let jitter: Int64
    /// True if packets wait in a queue on their way.
    let isQueueing: Bool

    @_noAllocation @_noLocks
    init(lossShare: Double, jitter: Int64, isQueueing: Bool) {
      self.lossShare = lossShare
      self.jitter = jitter
      self.isQueueing = isQueueing
    }

    @_noAllocation @_noLocks
    fileprivate func exceeds(loss: Double, jitter limit: Int64) -> Bool {
      lossShare > loss || jitter > limit || isQueueing
    }
  }

  /// First and longest time for which a link has to look well to be trusted again, in nanoseconds.
  private static var firstPatience: Int64 { 4_000_000_000 }
  private static var longestPatience: Int64 { 64_000_000_000 }
  /// Time without a failure, in nanoseconds, after which earlier ones are forgiven.
  private static var forgiveness: Int64 { 120_000_000_000 }

  /// True while the link is trusted.
  private(set) var isGiven = true
  private let good: (loss: Double, jitter: Int64)
  private let bad: (loss: Double, jitter: Int64)
  /// Time since which the link has looked well; nil before the first report and after a failure.
  private var wellSince: MonotonicInstant?
  private var patience = Self.firstPatience

  /// Creates trust that a link loses beyond `bad` and regains below `good`: the share of lost
  /// packets, and the jitter in nanoseconds.
  init(good: (loss: Double, jitter: Int64), bad: (loss: Double, jitter: Int64)) {
    self.good = good
    self.bad = bad
  }

  /// Updates the trust with the condition of the link at `now`.
  @_noAllocation @_noLocks
  mutating func note(_ condition: Condition, at now: MonotonicInstant) {
    let limit = isGiven ? bad : good
    guard !condition.exceeds(loss: limit.loss, jitter: limit.jitter) else {
      // The first trust was a guess, and no failure.
      if isGiven, case .some = wellSince { patience = min(2 * patience, Self.longestPatience) }
      return withdraw()
    }
    let since = wellSince ?? now
    wellSince = since
    let well = now.nanoseconds(since: since)
    if isGiven, well > Self.forgiveness { patience = Self.firstPatience }
    if well >= patience { isGiven = true }
  }

  /// Ends the trust, for a reason that is no failure of the link.
  @_noAllocation @_noLocks
  mutating func withdraw() {
    isGiven = false
    wellSince = nil
  }
}
