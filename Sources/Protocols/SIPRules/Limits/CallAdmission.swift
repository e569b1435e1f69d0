package import MediaCore
import NetworkAddress

/// Decides which calls may ring, and which requests are answered.
///
/// Callers with whom there was a call before have a share of their own, so that a flood from
/// elsewhere does not keep them out.
///
/// A value without I/O: time is an argument.
package struct CallAdmission: Sendable {
  /// The reason why a call may not ring.
  package enum Refusal: Equatable, Sendable {
    /// Too many calls ring already.
    case busy
    /// Too many calls came in a short time; another may come after `retryAfter` seconds.
    case overloaded(retryAfter: Int)
  }

  /// Numbers of incoming calls that ring now.
  package struct Ringing: Equatable, Sendable {
    package var all: Int
    package var fromHost: Int
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

  package init(_ limits: SignallingLimits, at now: MonotonicInstant) {
    self.limits = limits
    known = KnownHosts(capacity: limits.hosts)
    strangers = TokenBucket(limits.callsFromStrangers, at: now)
    servers = strangers
    answers = TokenBucket(limits.answers, at: now)
    answersToServers = answers
  }

  /// Returns the reason why a call may not ring; nil, after counting the call, if it may.
  ///
  /// - Parameters:
  ///   - host: the numeric host that it comes from.
  ///   - isByServer: true if an account's server has passed it on over its own connection.
  ///   - ringing: the calls that ring already.
  ///   - now: the time of its arrival.
  /// - Returns: the reason to refuse it; nil for none.
  package mutating func refusal(
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

  /// True if there was a call with a host, or an account's server passed its call on.
  package func isKnown(_ host: String, isByServer: Bool) -> Bool {
    isByServer || known.contains(network: SocketAddress.network(of: host))
  }

  /// Notes that there is a call with a host, which is known from now on.
  package mutating func noteCall(with host: String, at now: MonotonicInstant) {
    known.noteCall(with: host, at: now)
  }

  /// Returns true, after counting the request, if a request outside of calls may be answered.
  ///
  /// An account's server checks by such requests that this side is there, and is answered during a
  /// flood as well.
  package mutating func answers(isByServer: Bool, at now: MonotonicInstant) -> Bool {
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
  /// Counts the calls that ring, and those of them that come from one host.
  ///
  /// - Parameters:
  ///   - hosts: the numeric host of each call that rings.
  ///   - host: the one host.
  package init(_ hosts: [String], from host: String) {
    let network = SocketAddress.network(of: host)
    let isOfMany = network != host
    all = hosts.count
    fromHost = hosts.count {
      $0 == host || isOfMany && SocketAddress.network(of: $0) == network
    }
  }
}
