public import CallSecurity
import NetworkAddress

/// An account at a SIP server, by which its user is reached and calls others.
public struct SIPAccount: Equatable, Sendable {
  /// The transport to the server.
  public enum Connection: String, CaseIterable, Sendable {
    /// TLS with a valid certificate of the server.
    case tls
    /// TCP, unencrypted.
    case tcp
    /// UDP, unencrypted.
    case udp
    /// The transport that the domain's NAPTR records prefer, encrypted or not (RFC 3263 section
    /// 4.1).
    case discovered
  }

  /// The address of record, for example `sip:alice@example.org`.
  public let address: String
  /// The user part of the address.
  package let user: String
  /// The domain of the address.
  package let domain: String
  /// The port in the address, nil if there is none.
  package let port: UInt16?
  /// The name to show to others.
  public var displayName: String?
  /// The name to authenticate with: the user part if nothing else is set.
  public var login: String
  /// The password to authenticate with; it is never logged or shown.
  public var password: String
  /// The transport to the server.
  public var connection = Connection.tls
  /// Host or `host:port` of the server; nil to find it by the domain's DNS.
  public private(set) var server: String?
  /// The only certificate that is accepted, for a server that no authority vouches for; nil to
  /// accept those that authorities vouch for.
  public var certificate: Fingerprint?
  /// Host or `host:port` of a STUN server (RFC 8489), from which this machine learns the address
  /// that a router gives it; nil for none.
  public internal(set) var stunServer: String?
  /// The TURN server that relays the voice when no other path is open; nil for none.
  public var relay: RelayServer?
  /// The duration of a registration to ask for, in seconds, at least 60.
  public var expires = 600

  /// The account of an address of record.
  ///
  /// - Parameters:
  ///   - address: the address, with or without `sip:`.
  ///   - server: host or `host:port` of the server; nil to find it by the domain's DNS.
  ///   - password: the password to authenticate with.
  /// - Throws: a `SIPError` if the address has no user or no domain, or `server` is malformed.
  public init(
    _ address: String,
    server: String? = nil,
    password: String
  ) throws(SIPError) {
    guard let parsed = SIPAddress(Self.uri(of: address)), !parsed.user.isEmpty,
      parsed.foreignTransport == nil, address.count(where: { $0 == "@" }) == 1,
      !address.contains("/")
    else {
      throw .noAccount(address)
    }
    if let server, !Self.isServer(server) {
      throw .noServer(server, kind: .sip)
    }
    user = parsed.user
    domain = parsed.host.lowercased()
    self.port = parsed.givenPort
    let port = parsed.givenPort.map { ":\($0)" } ?? ""
    self.address = "sip:\(parsed.user)@\(SocketAddress.literal(domain))\(port)"
    login = parsed.user
    self.server = server
    self.password = password
  }

  /// Sets the STUN server; nil for none.
  ///
  /// Throws a `SIPError` if it is neither `host` nor `host:port`.
  public mutating func setSTUNServer(_ server: String?) throws(SIPError) {
    if let server, !Self.isServer(server) || server.contains("@") {
      throw .noServer(server, kind: .stun)
    }
    stunServer = server
  }

  private static func isServer(_ text: String) -> Bool {
    SIPAddress("sip:\(text)").map { $0.foreignTransport == nil } ?? false
  }

  /// Returns the URI of an address that may be written without its scheme.
  package static func uri(of address: String) -> String {
    let scheme = address.prefix { $0 != ":" }.lowercased()
    return ["sip", "sips"].contains(scheme) ? address : "sip:\(address)"
  }

  /// A locator of the account's servers: those of `server`, else of the domain.
  package var service: ServerLocator {
    let given = server.flatMap { SIPAddress("sip:\($0)") } ?? SIPAddress(address)
    return ServerLocator(
      host: given?.host ?? domain,
      port: given?.givenPort,
      transport: SIPTransport(rawValue: connection.rawValue)
    )
  }

  /// The name that the server's certificate must have (RFC 5922 section 7): not that of a machine
  /// that the DNS names, since DNS answers could be forged.
  package var serverName: String {
    server.flatMap { SIPAddress("sip:\($0)")?.host } ?? domain
  }
}

// Without the password.
extension SIPAccount: CustomStringConvertible, CustomDebugStringConvertible {
  /// The address.
  public var description: String { address }
  /// The address.
  public var debugDescription: String { address }
}
