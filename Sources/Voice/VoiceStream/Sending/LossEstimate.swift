import MediaCore

/// Estimate of the share of packets that stay lost, by the distance of their copies in packets.
///
/// It is fed with the runs of the far side's loss reports; of a run of `r` lost packets a copy that
/// is sent `reach` packets later leaves `r - reach` lost.
struct LossEstimate: ~Copyable {
  /// Greatest distance of a copy that is considered, in packets.
  static var farthest: Int { @_noAllocation @_noLocks get { 8 } }
  /// Half-life of an observation, in nanoseconds.
  private static var halfLife: Double { 8e9 }

  private var expected = 0.0
  /// Packets that stay lost, by the reach of the copy.
  private var lost = FixedArray<Double>(repeating: 0, count: farthest + 1)
  private var run = 0
  private var updated: MonotonicInstant?

  init() {}

  /// Decays the observations up to `now`, before a new report is added.
  @_noAllocation @_noLocks
  mutating func fade(to now: MonotonicInstant) {
    let passed = updated.map { max(0, now.nanoseconds(since: $0)) } ?? 0
    updated = now
    // Near enough to 2^-x for the seconds between two reports.
    let kept = 1 / (1 + Double(passed) / Self.halfLife)
    expected *= kept
    for reach in 0..<lost.count { lost[reach] *= kept }
  }

  /// Adds `count` packets in a row that were all received, or all lost.
  @_noAllocation @_noLocks
  mutating func add(isReceived: Bool, count: Int) {
    expected += Double(count)
    guard isReceived else { return run += count }
    for reach in 0..<lost.count where run > reach { lost[reach] += Double(run - reach) }
    run = 0
  }

  /// Converts the observations to packets of another duration.
  ///
  /// A burst of losses lasts as long, and has fewer packets if they are longer.
  @_noAllocation @_noLocks
  mutating func rescale(from former: FrameCount, to frames: FrameCount) {
    guard former != frames, former > 0, frames > 0 else { return }
    // Each is read before it is written over.
    for index in 0..<lost.count {
      let reach = frames > former ? index : lost.count - 1 - index
      let place = min(Double(reach * frames) / Double(former), Double(Self.farthest))
      let below = Int(place)
      let above = min(below + 1, Self.farthest)
      lost[reach] = lost[below] + (lost[above] - lost[below]) * (place - Double(below))
    }
  }

  /// Returns the share that stays lost with copies up to `reach` packets later, 0 to 1.
  @_noAllocation @_noLocks
  func share(reach: Int) -> Double {
    expected > 0 ? lost[reach] / expected : 0
  }

  /// Returns the greatest distance of a copy, in packets, up to which each further packet of
  /// waiting repairs more than `gain` of all packets.
  @_noAllocation @_noLocks
  func reach(gaining gain: Double) -> Int {
    var reach = 0
    while reach < Self.farthest, share(reach: reach) - share(reach: reach + 1) > gain { reach += 1 }
    return reach
  }
}
