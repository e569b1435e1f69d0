import MediaTime

/// How the packets lie between the player's requests, and whether they are about to slip behind one.
///
/// Who plays asks in a grain of its own, and what comes just after a request waits for the next. Two sound clocks move the
/// packets of a network without jitter slowly through the grain: they wait ever less, and from one packet to the next a
/// whole grain more, which is as good as late. That can be seen coming.
///
/// Where packets have jitter, or the clocks do not drift, nothing is foretold.
struct RequestPhase {
  /// The line on which the waits lie is that of the last ones, of so many nanoseconds.
  private static var memory: Float { 6e9 }
  /// Who says nothing for so long begins anew, in nanoseconds; what comes at once counts once.
  private static var pause: Float { 1e9 }
  private static var leastInterval: Float { 1e6 }
  /// So long before packets slip a delay that is resampled away must begin to grow, in nanoseconds.
  private static var horizon: Float { 8e9 }
  /// A drift that is not learned yet makes a delay shorter than it should be by so much of itself, in nanoseconds.
  private static var following: Float { 2e9 }
  /// Where single waits lie further apart than this share of the grain there is no line.
  private static var steadyShare: Float { 0.05 }
  /// Single waits lie up to so many times the mean beside the line.
  private static var tail: Float { 4 }
  /// A spread is believed after so many packets, a slope after more, and if it is as many times its uncertainty, squared.
  private static var leastCount: Int { 64 }
  private static var leastSlopeCount: Int { 256 }
  private static var leastSignificance: Float { 16 }

  /// The wait for the next request, in nanoseconds, and what it gains in each.
  private var mean: Float = 0
  private var slope: Float = 0
  /// The mean of what single packets lie beside it, in nanoseconds.
  private var spread: Float = 0
  private var count = 0
  private var last: MonotonicInstant?
  private var grain: Float = 0
  /// The square of the slope beside that of its standard error.
  private var significance: Float = 0

  @_noAllocation @_noLocks
  init() {}

  /// Takes in a packet that came at `arrival` and lay `wait` of at most `grain` nanoseconds until the player asked.
  @_noAllocation @_noLocks
  mutating func update(wait: Int64, grain: Int64, at arrival: MonotonicInstant) {
    guard grain > 0 else { return count = 0 }
    let grain = Float(grain)
    let passed = last.map { Float(max(0, arrival.nanoseconds(since: $0))) } ?? .infinity
    guard passed >= Self.leastInterval else { return }
    last = arrival
    // What has no line begins one again and again.
    let isLost = count >= Self.leastCount && !isSteady
    guard count > 0, passed < Self.pause, grain == self.grain, !isLost else {
      self.grain = grain
      return (mean, slope, spread, count, significance) = (Float(wait), 0, 0, 1, 0)
    }
    count += 1
    mean += slope * passed
    var error = Float(wait) - mean
    // What has slipped, forwards or back, is on the line that goes on at the other end of the grain.
    if abs(error) > grain / 2 { error -= error > 0 ? grain : -grain }
    // The least squares of all packets so far, which forget where there are more than the memory holds.
    let packets = min(Float(count), Self.memory / passed)
    let share = 2 / (packets * (packets + 1))
    mean += error * share * (2 * packets - 1)
    if mean < 0 { mean += grain } else if mean >= grain { mean -= grain }
    slope += error * share * 3 / passed
    spread += (abs(error) - spread) / min(packets, 64)
    // The standard error is 1.25 times the mean one; that of a slope is its root of 12 over the time and the root of n.
    let rise = slope * passed * packets
    significance = rise * rise * packets / max(1, 19 * spread * spread)
  }

  /// Until when the next packets count as waiting, in nanoseconds, since they are about to come after the request that
  /// they came before; 0 if they are not.
  var slipping: Int64 {
    @_noAllocation @_noLocks get {
      guard count >= Self.leastSlopeCount, slope < 0, isSteady,
        significance > Self.leastSignificance,
        mean + slope * Self.horizon < Self.tail * spread
      else { return 0 }
      return Int64(grain - slope * Self.following)
    }
  }

  private var isSteady: Bool {
    @_noAllocation @_noLocks get { spread < Self.steadyShare * grain }
  }
}
