import MediaCore
import UDPTransport

/// Decides which calls may ring, and which requests are answered.
///
/// A caller with whom there was a call before has a share of its own: a flood from elsewhere does
/// not keep it out.
///
/// A value without I/O: time is an argument.
struct CallAdmission: Sendable {
  /// Why a call may not ring.
  enum Refusal: Equatable, Sendable {
    /// Enough calls ring.
    case busy
    /// Too many calls came in a short time; the next one may come after so many seconds.
    case overloaded(retryAfter: Int)
  }

  /// How many incoming calls ring now.
  struct Ringing: Equatable, Sendable {
    var all: Int
    var fromHost: Int
  }

  private struct Host {
    var calls: TokenBucket
    var seenAt: MonotonicInstant
  }

  private let limits: SignallingLimits
  private var known: KnownHosts
  private var hosts: [String: Host] = [:]
  private var strangers: TokenBucket
  private var servers: TokenBucket
  private var answers: TokenBucket
  private var answersToServers: TokenBucket

  init(_ limits: SignallingLimits, at now: MonotonicInstant) {
    self.limits = limits
    known = KnownHosts(capacity: limits.hosts)
    strangers = TokenBucket(limits.callsFromStrangers, at: now)
    servers = strangers
    answers = TokenBucket(limits.answers, at: now)
    answersToServers = answers
  }

  /// Decides whether a call may ring.
  ///
  /// - Parameters:
  ///   - host: where it comes from.
  ///   - isByServer: true if an account's server has brought it over its connection.
  ///   - ringing: how many ring.
  ///   - now: when it came.
  /// - Returns: why it may not ring.
  mutating func refusal(
    ofCallFrom host: String,
    isByServer: Bool,
    whileRinging ringing: Ringing,
    at now: MonotonicInstant
  ) -> Refusal? {
    let host = SocketAddress.network(of: host)
    let isKnown = isByServer || known.contains(network: host)
    guard ringing.fromHost < limits.ringingFromOneHost || isByServer,
      ringing.all < limits.ringing || isKnown && ringing.all < 2 * limits.ringing
    else { return .busy }
    if isByServer {
      return servers.take(at: now) ? nil : .overloaded(retryAfter: servers.wait(at: now))
    }
    // A host that has used up its own share takes nothing from the others'.
    if var found = hosts[host], found.calls.isEmpty(at: now) {
      return .overloaded(retryAfter: found.calls.wait(at: now))
    }
    // Those of a flood are not worth remembering: their addresses may be invented.
    if !isKnown, !strangers.take(at: now) {
      return .overloaded(retryAfter: strangers.wait(at: now))
    }
    var found = entry(of: host, at: now)
    _ = found.calls.take(at: now)
    hosts[host] = found
    return nil
  }

  /// True if there was a call with a host, or an account's server has brought its call.
  func isKnown(_ host: String, isByServer: Bool) -> Bool {
    isByServer || known.contains(network: SocketAddress.network(of: host))
  }

  /// Notes that there is a call with a host: it is no stranger from now on.
  mutating func noteCall(with host: String, at now: MonotonicInstant) {
    known.noteCall(with: host, at: now)
  }

  /// True if a request that belongs to no call gets an answer.
  ///
  /// An account's server asks whether this side is there, and is to be answered also in a flood.
  mutating func answers(isByServer: Bool, at now: MonotonicInstant) -> Bool {
    isByServer ? answersToServers.take(at: now) : answers.take(at: now)
  }

  // What is remembered of a host, or a new entry for which there is room.
  private mutating func entry(of host: String, at now: MonotonicInstant) -> Host {
    if var found = hosts[host] {
      found.seenAt = now
      return found
    }
    if hosts.count >= limits.hosts { forgetOne() }
    return Host(calls: TokenBucket(limits.callsFromOneHost, at: now), seenAt: now)
  }

  // The one that was seen longest ago.
  private mutating func forgetOne() {
    let oldest = hosts.min { $0.value.seenAt < $1.value.seenAt }
    if let oldest { hosts[oldest.key] = nil }
  }
}

extension CallAdmission.Ringing {
  /// How many calls ring, and how many of them come from one host.
  ///
  /// - Parameters:
  ///   - hosts: where each call that rings comes from.
  ///   - host: the host.
  init(_ hosts: [String], from host: String) {
    let network = SocketAddress.network(of: host)
    let isOfMany = network != host
    all = hosts.count
    fromHost = hosts.count {
      $0 == host || isOfMany && SocketAddress.network(of: $0) == network
    }
  }
}
