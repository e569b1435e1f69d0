import MediaCore

/// How much strangers may ask of a user agent; beyond that the newest is refused, and what stands
/// goes on.
public struct SignallingLimits: Equatable, Sendable {
  /// So many at once, and so many a second in the long run.
  public struct Rate: Equatable, Sendable {
    /// How many may come at once.
    package var burst: Double
    /// How many a second may come in the long run.
    package var perSecond: Double

    package init(burst: Double, perSecond: Double) {
      self.burst = burst
      self.perSecond = perSecond
    }
  }

  /// New calls from one host.
  package var callsFromOneHost: Rate
  /// New calls from all hosts together with which there was no call before; as many again may come
  /// by accounts' servers over their connections.
  package var callsFromStrangers: Rate
  /// Calls that ring at a time.
  package var ringing: Int
  /// Calls from one host that ring at a time.
  package var ringingFromOneHost: Int
  /// Answers to requests that belong to no call, like OPTIONS; others get none.
  package var answers: Rate
  /// Hosts that are remembered for having called lately, and as many for a call with them.
  package var hosts: Int

  /// Those of a phone: people do not call more often than that.
  public static let phone = SignallingLimits(
    callsFromOneHost: Rate(burst: 10, perSecond: 1),
    callsFromStrangers: Rate(burst: 20, perSecond: 5),
    ringing: 8,
    ringingFromOneHost: 3,
    answers: Rate(burst: 200, perSecond: 100),
    hosts: 256
  )

  /// Those of a line that answers by itself, for as many as there are.
  public static let service = SignallingLimits(
    callsFromOneHost: Rate(burst: 1_000, perSecond: 500),
    callsFromStrangers: Rate(burst: 1_000, perSecond: 500),
    ringing: 1_000,
    ringingFromOneHost: 1_000,
    answers: Rate(burst: 1_000, perSecond: 500),
    hosts: 4_096
  )

  /// Connections of TCP and TLS that others have opened, in the whole process; a host with which
  /// there was a call finds room for as many again.
  ///
  /// libre ends those that bring nothing within 32 s, and those that bring no more within 15 min.
  static let connections = 256
  /// How many of them one host may have.
  static let connectionsFromOneHost = 64
  /// How fast one host may open them: each by TLS costs a handshake.
  static let newConnectionsFromOneHost = Rate(burst: 64, perSecond: 20)
}

/// A bucket of tokens that fills with time: each event takes one.
///
/// A value without I/O: time is an argument.
struct TokenBucket: Equatable, Sendable {
  private let rate: SignallingLimits.Rate
  private var level: Double
  private var filledAt: MonotonicInstant

  init(_ rate: SignallingLimits.Rate, at now: MonotonicInstant) {
    self.rate = rate
    level = rate.burst
    filledAt = now
  }

  private mutating func fill(to now: MonotonicInstant) {
    let seconds = Double(max(0, now.nanoseconds(since: filledAt))) / 1e9
    level = min(rate.burst, level + seconds * rate.perSecond)
    filledAt = max(filledAt, now)
  }

  /// True if there is a token, which is taken then.
  mutating func take(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    guard level >= 1 else { return false }
    level -= 1
    return true
  }

  /// Seconds until there is a token.
  mutating func wait(at now: MonotonicInstant) -> Int {
    fill(to: now)
    return max(1, Int(((1 - level) / rate.perSecond).rounded(.up)))
  }

  /// True if there is no token.
  mutating func isEmpty(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    return level < 1
  }

  /// True if nothing has been taken for so long that it makes no difference.
  mutating func isFull(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    return level >= rate.burst
  }
}
