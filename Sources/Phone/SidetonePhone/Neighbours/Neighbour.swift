public import CallSecurity
import DesktopServices
import SIPSignalling

/// A phone that announces itself on the local network (DNS-SD, RFC 6763).
///
/// Announcements are not authenticated. Only an encrypted call proves that the far side has the
/// identity of `fingerprint`.
public struct Neighbour: Equatable, Sendable {
  /// The name that it announces.
  public let name: String
  /// The name of its machine.
  public let machine: String
  /// The URI to call, such as `sip:alice@192.168.1.20`.
  public let uri: String
  /// The fingerprint of the identity that it announces; nil if it announces none, as is usual for
  /// other programs.
  public let fingerprint: Fingerprint?
  /// True if it is on this machine.
  public let isOfThisMachine: Bool
}

/// A change among the phones on the local network.
public enum NeighbourEvent: Equatable, Sendable {
  /// A phone has appeared, or has changed its announcement.
  case arrived(Neighbour)
  /// A phone has disappeared.
  case left(Neighbour)
  /// All phones present at the beginning have been reported.
  case complete
  /// The network cannot be searched.
  case failed(String)
}

extension Neighbour {
  /// The type of services by which SIP phones are found (RFC 6763, registered with IANA).
  static let serviceType = "_sip._udp"
  /// Key in the TXT record for the user part of the announced address.
  static let userKey = "user"
  /// Key in the TXT record for the identity's fingerprint.
  static let fingerprintKey = "fp"

  /// True if the same machine announces both for the same identity, at whatever address.
  func isSameAnnouncer(as other: Neighbour) -> Bool {
    (name, machine) == (other.name, other.machine) && fingerprint == other.fingerprint
  }

  /// The phone that announces a service, nil if it cannot be called.
  init?(_ service: AnnouncedService) {
    let user = service.texts[Self.userKey] ?? ""
    // An address that is of this link alone cannot be written in a SIP URI (RFC 3986 has no scope).
    guard !service.address.lowercased().hasPrefix("fe80:") else { return nil }
    let host = service.address.contains(":") ? "[\(service.address)]" : service.address
    let port = service.port == 5_060 ? "" : ":\(service.port)"
    let uri = "sip:" + (user.isEmpty ? "" : "\(user)@") + host + port
    guard SIPAddress(uri)?.host == service.address else { return nil }
    name = service.key.name
    machine = service.host
    self.uri = uri
    fingerprint = service.texts[Self.fingerprintKey].flatMap { Fingerprint($0) }
    isOfThisMachine = service.isOfThisMachine
  }
}
