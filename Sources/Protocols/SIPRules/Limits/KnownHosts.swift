import MediaCore
import NetworkAddress

/// The hosts with which there was a call, up to a capacity.
///
/// A value without I/O: time is an argument.
struct KnownHosts: Sendable {
  private let capacity: Int
  private var calledAt: [String: MonotonicInstant] = [:]

  /// Creates room for `capacity` hosts; the one whose latest call is oldest is forgotten first.
  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Notes that there is a call with a host, given by its numeric address.
  mutating func noteCall(with host: String, at now: MonotonicInstant) {
    let network = SocketAddress.network(of: host)
    if calledAt[network] == nil, calledAt.count >= capacity,
      let oldest = calledAt.min(by: { $0.value < $1.value })
    {
      calledAt[oldest.key] = nil
    }
    calledAt[network] = now
  }

  /// True if there was a call with a network (`SocketAddress.network(of:)`).
  func contains(network: String) -> Bool { calledAt[network] != nil }
}
