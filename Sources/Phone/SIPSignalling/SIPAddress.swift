import CLibre

/// A SIP URI taken apart by libre (RFC 3261 section 19.1).
package struct SIPAddress: Equatable, Sendable {
  /// The user part, empty if there is none.
  package let user: String
  /// A host name or a numeric address, without brackets.
  package let host: String
  /// The port, 5060 if none is given.
  package let port: UInt16
  /// True if the URI asks for TCP.
  package let usesTCP: Bool

  /// Parses a URI of the scheme `sip`; nil if it is none.
  package init?(_ text: String) {
    var uri = unsafe CLibre.uri()
    // The parts point into the text: they are read while it is in place.
    let parts = unsafe text.withCString { start -> (String, String, String)? in
      var whole = unsafe pl(p: start, l: text.utf8.count)
      guard unsafe uri_decode(&uri, &whole) == 0,
        unsafe String(uri.scheme).lowercased() == "sip", unsafe uri.host.l > 0
      else { return nil }
      return unsafe (String(uri.user), String(uri.host), String(uri.params))
    }
    guard let (user, host, parameters) = parts else { return nil }
    self.user = user
    self.host = host
    port = unsafe uri.port == 0 ? 5_060 : uri.port
    usesTCP = parameters.lowercased().contains("transport=tcp")
  }

  /// A host as URIs write it: an IPv6 address in brackets (RFC 3986 section 3.2.2).
  static func literal(_ host: String) -> String {
    host.contains(":") ? "[\(host)]" : host
  }

  /// The URI with a numeric address in place of the host.
  package func uri(atNumericHost numericHost: String) -> String {
    let host = Self.literal(numericHost)
    let user = user.isEmpty ? "" : "\(user)@"
    return "sip:\(user)\(host):\(port)\(usesTCP ? ";transport=tcp" : "")"
  }
}
