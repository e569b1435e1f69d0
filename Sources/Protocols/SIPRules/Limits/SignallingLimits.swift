import MediaCore

/// Limits on what strangers may ask of a user agent.
///
/// Beyond a limit the newest request is refused, and existing calls go on.
public struct SignallingLimits: Equatable, Sendable {
  /// A limit on a rate: a burst, and a long-term rate.
  public struct Rate: Equatable, Sendable {
    /// Maximum number at once.
    package var burst: Double
    /// Maximum number per second in the long run.
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
  /// Calls that ring at a time; those from hosts with which there was a call, and by accounts'
  /// servers, may ring up to twice that number.
  package var ringing: Int
  /// Calls from one host that ring at a time; accounts' servers are exempt.
  package var ringingFromOneHost: Int
  /// Answers to requests that belong to no call, like OPTIONS; requests beyond this rate get none.
  ///
  /// Accounts' servers have as many again.
  package var answers: Rate
  /// Capacity of the list of hosts that called lately, and of the list of hosts with which there
  /// was a call.
  package var hosts: Int

  /// Limits of a phone: people do not call more often than that.
  public static let phone = SignallingLimits(
    callsFromOneHost: Rate(burst: 10, perSecond: 1),
    callsFromStrangers: Rate(burst: 20, perSecond: 5),
    ringing: 8,
    ringingFromOneHost: 3,
    answers: Rate(burst: 200, perSecond: 100),
    hosts: 256
  )

  /// Limits of a line that answers by itself, for many callers.
  public static let service = SignallingLimits(
    callsFromOneHost: Rate(burst: 1_000, perSecond: 500),
    callsFromStrangers: Rate(burst: 1_000, perSecond: 500),
    ringing: 1_000,
    ringingFromOneHost: 1_000,
    answers: Rate(burst: 1_000, perSecond: 500),
    hosts: 4_096
  )

  /// Maximum number of incoming TCP and TLS connections in the whole process; hosts with which
  /// there was a call may use as many again.
  ///
  /// libre closes those that bring nothing within 32 s, and those that bring no more within 15 min.
  static let connections = 256
  /// Maximum number of incoming connections from one host.
  static let connectionsFromOneHost = 64
  /// Maximum rate of new connections from one host: each by TLS costs a handshake.
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

  /// Takes a token; false if there is none.
  mutating func take(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    guard level >= 1 else { return false }
    level -= 1
    return true
  }

  /// Returns the seconds until there is a token, at least 1.
  mutating func wait(at now: MonotonicInstant) -> Int {
    fill(to: now)
    return max(1, Int(((1 - level) / rate.perSecond).rounded(.up)))
  }

  /// Returns true if there is no token.
  mutating func isEmpty(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    return level < 1
  }

  /// Returns true if the bucket is full, as one from which nothing was ever taken.
  mutating func isFull(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    return level >= rate.burst
  }
}
