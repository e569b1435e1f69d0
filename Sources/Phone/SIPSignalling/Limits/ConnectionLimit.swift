import MediaCore
import UDPTransport

/// Decides which connections are taken that others open.
///
/// A value without I/O: time is an argument, and `isOpen` looks.
struct ConnectionLimit: Sendable {
  /// A connection that was taken.
  struct Connection: Equatable, Sendable {
    /// The system's number for it, which a later one may have after its end.
    let descriptor: CInt
    let host: String
    let port: UInt16
    /// What counts as one host.
    var network: String { SocketAddress.network(of: host) }
  }

  private var known = KnownHosts(capacity: 2 * SignallingLimits.connections)
  private var taken: [CInt: Connection] = [:]
  private var rates: [String: TokenBucket] = [:]

  /// True if a connection is kept, which has just been opened.
  mutating func admits(
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
  mutating func noteCall(with host: String, at now: MonotonicInstant) {
    known.noteCall(with: host, at: now)
  }

  private mutating func drop(_ connections: [Connection], unless isOpen: (Connection) -> Bool) {
    for connection in connections where !isOpen(connection) {
      taken[connection.descriptor] = nil
    }
  }
}
