import MediaCore

/// The share of packets that stays lost, for each depth of redundancy.
///
/// Fed with the runs of the far side's loss reports; a run of `r` lost packets leaves `r - depth`
/// of them lost.
struct LossEstimate: ~Copyable {
  /// The deepest redundancy that is looked at.
  static var deepest: Int { @_noAllocation @_noLocks get { 3 } }
  /// After so long an observation counts half of a new one, in nanoseconds.
  private static var halfLife: Double { 8e9 }

  private var expected = 0.0
  /// By depth: what stays lost.
  private var lost = FixedArray<Double>(repeating: 0, count: 4)
  private var run = 0
  private var updated: MonotonicInstant?

  init() {}

  /// Lets what was seen fade up to `now`, before a new report is added.
  @_noAllocation @_noLocks
  mutating func fade(to now: MonotonicInstant) {
    let passed = updated.map { max(0, now.nanoseconds(since: $0)) } ?? 0
    updated = now
    // Near enough to 2^-x for the seconds between two reports.
    let kept = 1 / (1 + Double(passed) / Self.halfLife)
    expected *= kept
    for depth in 0..<lost.count { lost[depth] *= kept }
  }

  /// Adds `count` packets in a row that came, or did not.
  @_noAllocation @_noLocks
  mutating func add(isReceived: Bool, count: Int) {
    expected += Double(count)
    guard isReceived else { return run += count }
    for depth in 0..<lost.count where run > depth { lost[depth] += Double(run - depth) }
    run = 0
  }

  /// The share that stays lost with redundancy of `depth`, 0 to 1.
  @_noAllocation @_noLocks
  func share(depth: Int) -> Double {
    expected > 0 ? lost[depth] / expected : 0
  }
}
