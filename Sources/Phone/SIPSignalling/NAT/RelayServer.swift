import NetworkAddress

/// A TURN server (RFC 8656), which relays the voice when no other path is open.
public struct RelayServer: Equatable, Sendable {
  /// The transport to the server, which relays by UDP in any case.
  public enum Transport: String, Equatable, Sendable, CaseIterable {
    case udp
    case tcp
    case tls
  }

  /// Host name or numeric address.
  public let host: String
  /// The port.
  public let port: UInt16
  /// The transport to the server.
  public let transport: Transport
  /// The name to authenticate with.
  public var login: String
  /// The password to authenticate with; it is never logged or shown.
  public var password: String

  /// The server of a `turn:` or `turns:` URI (RFC 7065).
  ///
  /// - Parameters:
  ///   - uri: for example `turn:relay.example.org`, `turn:relay.example.org:3478?transport=tcp`, or
  ///     `turns:relay.example.org`.
  ///   - login: the name to authenticate with.
  ///   - password: the password to authenticate with.
  /// - Throws: a `SIPError` if `uri` is not the URI of a TURN server.
  public init(_ uri: String, login: String, password: String = "") throws(SIPError) {
    let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let scheme = parts[0].prefix { $0 != ":" }.lowercased()
    let address = parts[0].dropFirst(scheme.count + 1)
    let asked = parts.count < 2 ? "" : parts[1].lowercased()
    guard let server = SIPAddress("sip:\(address)"), server.user.isEmpty,
      server.foreignTransport == nil,
      let transport = Self.transport(scheme, asked)
    else {
      throw .noServer(uri, kind: .turn)
    }
    host = server.host
    port = server.givenPort ?? (transport == .tls ? 5_349 : 3_478)
    self.transport = transport
    self.login = login
    self.password = password
  }

  private static func transport(_ scheme: String, _ asked: String) -> Transport? {
    switch (scheme, asked) {
    case ("turn", ""), ("turn", "transport=udp"): .udp
    case ("turn", "transport=tcp"): .tcp
    case ("turns", ""), ("turns", "transport=tcp"): .tls
    default: nil
    }
  }

  /// The server's URI, without login and password.
  public var uri: String {
    let scheme = transport == .tls ? "turns" : "turn"
    let parameter = transport == .tcp ? "?transport=tcp" : ""
    return "\(scheme):\(SocketAddress.literal(host)):\(port)\(parameter)"
  }
}

// Without the password.
extension RelayServer: CustomStringConvertible, CustomDebugStringConvertible {
  /// The URI.
  public var description: String { uri }
  /// The URI.
  public var debugDescription: String { uri }
}
