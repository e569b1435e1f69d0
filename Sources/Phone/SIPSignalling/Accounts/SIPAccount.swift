public import CallSecurity

/// An account at a SIP server, by which its user is reached and calls others.
public struct SIPAccount: Equatable, Sendable {
  /// How to reach the server.
  public enum Connection: String, CaseIterable, Sendable {
    /// TLS, whose certificate has to be the server's.
    case tls
    /// TCP, in the open.
    case tcp
    /// UDP, in the open.
    case udp
    /// What the domain's NAPTR records prefer, be it in the open (RFC 3263 section 4.1).
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
  /// How to reach the server.
  public var connection = Connection.tls
  /// Host or `host:port` of the server, nil for what the domain's DNS says.
  public private(set) var server: String?
  /// The only certificate that is accepted, for a server that no authority vouches for; nil to
  /// accept those of authorities.
  public var certificate: Fingerprint?
  /// Host or `host:port` of a STUN server (RFC 8489), which says at which address a router shows
  /// this machine to others; nil for none.
  public internal(set) var stunServer: String?
  /// The TURN server that relays the voice where no other way is open, nil for none.
  public var relay: RelayServer?
  /// How many seconds a registration is asked for, at least 60.
  public var expires = 600

  /// The account of an address of record.
  ///
  /// - Parameters:
  ///   - address: the address, with or without `sip:`.
  ///   - server: host or `host:port` of the server, nil for what the domain's DNS says.
  ///   - password: what to authenticate with.
  /// - Throws: a `SIPError` if the address has no user or no domain, or the server is none.
  public init(
    _ address: String,
    server: String? = nil,
    password: String
  ) throws(SIPError) {
    guard let parsed = SIPAddress(Self.uri(of: address)), !parsed.user.isEmpty,
      address.count(where: { $0 == "@" }) == 1, !address.contains("/")
    else {
      throw SIPError(reason: "\"\(address)\" is no address of an account; write NAME@DOMAIN")
    }
    if let server, SIPAddress("sip:\(server)") == nil {
      throw SIPError(reason: "\"\(server)\" is no server; write HOST or HOST:PORT")
    }
    user = parsed.user
    domain = parsed.host.lowercased()
    self.port = parsed.givenPort
    let port = parsed.givenPort.map { ":\($0)" } ?? ""
    self.address = "sip:\(parsed.user)@\(SIPAddress.literal(domain))\(port)"
    login = parsed.user
    self.server = server
    self.password = password
  }

  /// Names a STUN server.
  ///
  /// Throws a `SIPError` if it is neither `host` nor `host:port`.
  public mutating func setSTUNServer(_ server: String?) throws(SIPError) {
    if let server, SIPAddress("sip:\(server)") == nil || server.contains("@") {
      throw SIPError(reason: "\"\(server)\" is no STUN server; write HOST or HOST:PORT")
    }
    stunServer = server
  }

  /// The URI of an address that may be written without its scheme.
  package static func uri(of address: String) -> String {
    let scheme = address.prefix { $0 != ":" }.lowercased()
    return ["sip", "sips"].contains(scheme) ? address : "sip:\(address)"
  }

  /// What to look for in the DNS, or to reach directly.
  package var service: ServerLocator {
    let given = server.flatMap { SIPAddress("sip:\($0)") } ?? SIPAddress(address)
    return ServerLocator(
      host: given?.host ?? domain,
      port: given?.givenPort,
      transport: SIPTransport(rawValue: connection.rawValue)
    )
  }

  /// The name that the server's certificate has to have (RFC 5922 section 7): not the one of a
  /// machine that the DNS names, since the DNS could be forged.
  package var serverName: String {
    server.flatMap { SIPAddress("sip:\($0)")?.host } ?? domain
  }
}

/// What has become of an account's registration.
public enum RegistrationState: Equatable, Sendable {
  /// Calls reach this machine; the server says for how many seconds, and it is renewed before that.
  case registered(server: String, seconds: Int)
  /// Calls do not reach this machine; it is tried again after so many seconds.
  case failed(reason: String, retryingAfter: Int)
  /// It was ended by this side.
  case ended
}

// Without the password.
extension SIPAccount: CustomStringConvertible, CustomDebugStringConvertible {
  /// The address.
  public var description: String { address }
  /// The address.
  public var debugDescription: String { address }
}
