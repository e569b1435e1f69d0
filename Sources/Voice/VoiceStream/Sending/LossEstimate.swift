import MediaCore

/// The share of packets that stays lost, by how many packets later a copy is sent.
///
/// Fed with the runs of the far side's loss reports; of a run of `r` lost packets a copy that is
/// sent `reach` packets later leaves `r - reach` lost.
struct LossEstimate: ~Copyable {
  /// The latest copy that is looked at, in packets.
  static var farthest: Int { @_noAllocation @_noLocks get { 8 } }
  /// After so long an observation counts half of a new one, in nanoseconds.
  private static var halfLife: Double { 8e9 }

  private var expected = 0.0
  /// By reach: what stays lost.
  private var lost = FixedArray<Double>(repeating: 0, count: 9)
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
    for reach in 0..<lost.count { lost[reach] *= kept }
  }

  /// Adds `count` packets in a row that came, or did not.
  @_noAllocation @_noLocks
  mutating func add(isReceived: Bool, count: Int) {
    expected += Double(count)
    guard isReceived else { return run += count }
    for reach in 0..<lost.count where run > reach { lost[reach] += Double(run - reach) }
    run = 0
  }

  /// The share that stays lost with copies up to `reach` packets later, 0 to 1.
  @_noAllocation @_noLocks
  func share(reach: Int) -> Double {
    expected > 0 ? lost[reach] / expected : 0
  }

  /// How many packets later a copy is to be sent so that sending it one packet earlier would leave
  /// more than `gain` of all packets lost.
  @_noAllocation @_noLocks
  func reach(gaining gain: Double) -> Int {
    var reach = 0
    while reach < Self.farthest, share(reach: reach) - share(reach: reach + 1) > gain { reach += 1 }
    return reach
  }
}
