package import MediaCore
import NetworkAddress

/// Decides which incoming connections are kept.
///
/// A value without I/O: time is an argument, and `isOpen` checks connections.
package struct ConnectionLimit: Sendable {
  /// An incoming connection.
  package struct Connection: Equatable, Sendable {
    /// File descriptor, which the system may reuse for a later connection after this one's end.
    package let descriptor: CInt
    package let host: String
    package let port: UInt16

    package init(descriptor: CInt, host: String, port: UInt16) {
      self.descriptor = descriptor
      self.host = host
      self.port = port
    }

    /// Network that counts as one host (`SocketAddress.network(of:)`).
    var network: String { SocketAddress.network(of: host) }
  }

  private var known = KnownHosts(capacity: 2 * SignallingLimits.connections)
  private var taken: [CInt: Connection] = [:]
  private var rates: [String: TokenBucket] = [:]

  /// The state without connections.
  package init() {}

  /// Returns true if a connection that has just been opened is kept.
  package mutating func admits(
    _ new: Connection,
    at now: MonotonicInstant,
    isOpen: (Connection) -> Bool
  ) -> Bool {
    taken[new.descriptor] = nil
    let network = new.network
    let isKnown = known.contains(network: network)
    let limit = (isKnown ? 2 : 1) * SignallingLimits.connections
    var rate = rates[network] ?? TokenBucket(SignallingLimits.newConnectionsFromOneHost, at: now)
    let isInTime = rate.take(at: now)
    rates[network] = rate
    // Hosts that have been quiet for long are as good as new ones.
    let remembered = 4 * SignallingLimits.connections
    if rates.count > remembered {
      for host in rates.keys where rates[host]?.isFull(at: now) ?? false { rates[host] = nil }
      if rates.count > remembered { rates = [:] }
    }
    guard isInTime else { return false }
    let fromHost = taken.values.filter { $0.network == network }
    if fromHost.count >= SignallingLimits.connectionsFromOneHost {
      drop(fromHost, unless: isOpen)
      let left = taken.values.count { $0.network == network }
      guard left < SignallingLimits.connectionsFromOneHost else { return false }
    }
    if taken.count >= limit {
      drop(Array(taken.values), unless: isOpen)
      guard taken.count < limit else { return false }
    }
    taken[new.descriptor] = new
    return true
  }

  /// Notes that there is a call with a host: strangers' connections do not keep it out from now
  /// on.
  package mutating func noteCall(with host: String, at now: MonotonicInstant) {
    known.noteCall(with: host, at: now)
  }

  private mutating func drop(_ connections: [Connection], unless isOpen: (Connection) -> Bool) {
    for connection in connections where !isOpen(connection) {
      taken[connection.descriptor] = nil
    }
  }
}
