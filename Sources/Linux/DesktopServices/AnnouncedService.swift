/// A service that a machine of the local network announces (DNS-SD, RFC 6763), as it was found on
/// one network interface.
///
/// Every field is untrusted: anyone on the network can choose it.
package struct AnnouncedService: Equatable, Sendable {
  /// The network interface and protocol that an announcement was received by, with its name and
  /// domain.
  package struct Key: Hashable, Sendable {
    /// The kernel's number of the network interface.
    package let interface: Int32
    /// 0 if it was received by IPv4, 1 by IPv6.
    package let networkProtocol: Int32
    /// The human-readable name of the service.
    package let name: String
    /// The domain, `local` as a rule.
    package let domain: String

    /// A key with the given fields.
    package init(interface: Int32, networkProtocol: Int32, name: String, domain: String) {
      self.interface = interface
      self.networkProtocol = networkProtocol
      self.name = name
      self.domain = domain
    }
  }

  /// The network interface and protocol that it was received by, with its name and domain.
  package let key: Key
  /// The name of the machine.
  package let host: String
  /// The machine's numeric address; without the scope for IPv6.
  package let address: String
  /// The port.
  package let port: UInt16
  /// Values of the TXT record (RFC 6763 section 6), by their keys in lower case.
  package let texts: [String: String]
  /// True if this machine announces it.
  package let isOfThisMachine: Bool

  /// A service with the given fields.
  package init(
    key: Key,
    host: String,
    address: String,
    port: UInt16,
    texts: [String: String],
    isOfThisMachine: Bool
  ) {
    self.key = key
    self.host = host
    self.address = address
    self.port = port
    self.texts = texts
    self.isOfThisMachine = isOfThisMachine
  }

  /// The values of a TXT record by their keys; of several with one key the first counts (RFC 6763
  /// section 6.4).
  static func texts(_ entries: [[UInt8]]) -> [String: String] {
    var texts: [String: String] = [:]
    for entry in entries.prefix(100) {
      let parts = entry.split(separator: UInt8(ascii: "="), maxSplits: 1)
      guard parts.count == 2 else { continue }
      let key = String(decoding: parts[0], as: UTF8.self).lowercased()
      if texts[key] == nil { texts[key] = String(decoding: parts[1], as: UTF8.self) }
    }
    return texts
  }
}

/// Avahi's names on the bus (`org.freedesktop.Avahi`, 0.8 or later).
enum Avahi {
  static let service = "org.freedesktop.Avahi"
  static let server = "org.freedesktop.Avahi.Server2"
  static let browser = "org.freedesktop.Avahi.ServiceBrowser"
  static let resolver = "org.freedesktop.Avahi.ServiceResolver"
  static let group = "org.freedesktop.Avahi.EntryGroup"
  /// Every network interface, or every protocol.
  static let any = BusValue.int32(-1)
  /// Flag of a service that this machine announces.
  static let isLocal: UInt32 = 8
}
