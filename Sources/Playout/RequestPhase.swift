import MediaTime

/// How the packets lie between the player's requests: whether they are about to slip behind one, and how the clocks drift.
///
/// Who plays asks in a grain of its own, and what comes just after a request waits for the next. Two sound clocks move the
/// packets of a network without jitter slowly through the grain: they wait ever less, and from one packet to the next a
/// whole grain more, which is as good as late. That can be seen coming; and how fast they move is the drift, which shows
/// in seconds here.
struct RequestPhase {
  /// The line on which the packets lie is that of the last ones, of so many nanoseconds.
  private static var memory: Float { 6e9 }
  /// Who says nothing for so long begins anew, in nanoseconds; what comes at once counts once.
  private static var pause: Float { 1e9 }
  private static var leastInterval: Float { 1e6 }
  /// So long before packets slip a delay that is resampled away must begin to grow, in nanoseconds.
  private static var horizon: Float { 8e9 }
  /// Where single packets lie further apart than this share of the grain, nothing is foretold.
  private static var steadyShare: Float { 0.05 }
  /// Of packets whose lateness is distributed exponentially one in three thousand is later than this many times the mean;
  /// if more slip, it pays to wait for the next request (`DelayTarget.price`).
  private static var tail: Float { 8 }
  /// Believed after so many packets, and the drift after so many.
  private static var leastCount: Int { 64 }
  private static var leastDriftCount: Int { 256 }

  /// The wait for the next request, in nanoseconds, and what it gains in each.
  private var mean: Float = 0
  private var slope: Float = 0
  /// The mean of what single packets lie beside it, in nanoseconds.
  private var spread: Float = 0
  private var count = 0
  private var last: MonotonicInstant?
  private var grain: Float = 0

  @_noAllocation @_noLocks
  init() {}

  /// Takes in a packet that came at `arrival` and lay `wait` of at most `grain` nanoseconds until the player asked.
  @_noAllocation @_noLocks
  mutating func update(wait: Int64, grain: Int64, at arrival: MonotonicInstant) {
    guard grain > 0 else { return }
    let grain = Float(grain)
    if grain != self.grain { count = 0 }
    self.grain = grain
    let passed = last.map { Float(max(0, arrival.nanoseconds(since: $0))) } ?? .infinity
    guard passed >= Self.leastInterval else { return }
    last = arrival
    guard count > 0, passed < Self.pause else {
      return (mean, slope, spread, count) = (Float(wait), 0, 0, 1)
    }
    count += 1
    mean += slope * passed
    var error = Float(wait) - mean
    // What has slipped, forwards or back, goes on at the other end of the grain.
    if abs(error) > grain / 2 {
      let slip = error > 0 ? grain : -grain
      mean += slip
      error -= slip
    }
    // The least squares of all packets so far, which forget where there are more than the memory holds.
    let packets = min(Float(count), Self.memory / passed)
    let share = 2 / (packets * (packets + 1))
    mean += error * share * (2 * packets - 1)
    slope += error * share * 3 / passed
    spread += (abs(error) - spread) / min(Float(count), 256)
  }

  /// Whether packets that come as they do now will soon come after the request that they came before.
  var isAboutToSlip: Bool {
    @_noAllocation @_noLocks get {
      count >= Self.leastCount && isSteady
        && mean + min(0, slope) * Self.horizon < Self.tail * spread
    }
  }

  /// How much faster the sender's clock is than the player's, nil if that is not seen.
  var drift: Double? {
    @_noAllocation @_noLocks get {
      count >= Self.leastDriftCount && isSteady ? Double(slope) : nil
    }
  }

  private var isSteady: Bool {
    @_noAllocation @_noLocks get { spread < Self.steadyShare * grain }
  }

  /// Notes that packets wait so many nanoseconds less from now on.
  @_noAllocation @_noLocks
  mutating func noteShorterWaits(by nanoseconds: Int64) { mean -= Float(nanoseconds) }
}
