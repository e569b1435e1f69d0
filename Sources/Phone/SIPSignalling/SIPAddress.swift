import CLibre
import NetworkAddress

/// A SIP URI taken apart by libre (RFC 3261 section 19.1).
package struct SIPAddress: Equatable, Sendable {
  /// The user part with all escapes that it needs, empty if there is none.
  package let user: String
  /// A host name or a numeric address, without brackets.
  package let host: String
  /// The port, nil if none is given.
  package let givenPort: UInt16?
  /// The transport that the URI asks for, nil if it leaves the choice.
  package let transport: SIPTransport?
  /// A transport between a server and the far side that this program does not speak, as of browsers
  /// (`ws`, `wss`; RFC 7118); nil for none.
  package let foreignTransport: String?
  /// True for a `sips` URI.
  package let isSecureScheme: Bool
  /// Parameters of the address, like `user=phone` and `gr`, each with its semicolon (RFC 3261
  /// section 19.1.5), without those for routing, like `transport` and `maddr`.
  package let parameters: String

  private static let foreignTransports: Set = ["ws", "wss", "sctp", "tls-sctp"]

  /// Parses a `sip` or `sips` URI; nil if it is malformed, or asks for a transport that is neither
  /// known nor foreign or, as `sips`, for UDP.
  package init?(_ text: String) {
    // It is written into messages, where these would end it.
    guard
      !text.unicodeScalars.contains(where: {
        $0.value <= 32 || "<>\"\u{7F}".unicodeScalars.contains($0)
      })
    else { return nil }
    var uri = unsafe CLibre.uri()
    // In what is decoded the two schemes look alike (`decodeAddress`).
    let isSecure = text.prefix(5).lowercased() == "sips:"
    let text = isSecure ? "sip:\(text.dropFirst(5))" : text
    // The parts point into the text: they are read while it is in place.
    let parts = unsafe text.withCString { start -> (String, String, String, String)? in
      var whole = unsafe pl(p: start, l: text.utf8.count)
      guard unsafe uri_decode(&uri, &whole) == 0, unsafe uri.host.l > 0 else { return nil }
      return unsafe (
        String(uri.scheme).lowercased(), String(uri.user), String(uri.host), String(uri.params)
      )
    }
    guard let (scheme, user, host, parameters) = parts, scheme == "sip" else { return nil }
    self.user = Self.escaped(user)
    self.host = host
    givenPort = unsafe uri.port == 0 ? nil : uri.port
    self.parameters = parameters.split(separator: ";")
      .filter { parameter in
        !Self.ofTheWay.contains(parameter.prefix { $0 != "=" }.lowercased())
      }
      .map { ";\($0)" }.joined()
    isSecureScheme = isSecure
    let named = Self.transport(in: parameters.lowercased())
    foreignTransport = named.flatMap { Self.foreignTransports.contains($0) ? $0 : nil }
    guard let named, foreignTransport == nil else {
      transport = isSecure ? .tls : nil
      return
    }
    // A `sips` URI is encrypted whatever else it says (RFC 3261 section 26.2.2).
    guard let transport = SIPTransport(rawValue: named), !isSecure || transport != .udp else {
      return nil
    }
    self.transport = isSecure ? .tls : transport
  }

  /// Names of parameters for routing, or for requests other than INVITE.
  private static let ofTheWay = ["transport", "lr", "maddr", "ttl", "method", "comp", "sigcomp-id"]

  private static func transport(in parameters: String) -> String? {
    for parameter in parameters.split(separator: ";") {
      let pair = parameter.split(separator: "=")
      if pair.count == 2, pair[0] == "transport" { return String(pair[1]) }
    }
    return nil
  }

  /// True for the URI of an anonymous caller (RFC 3323 section 4.1), and for text that is neither a
  /// SIP URI nor a telephone number.
  package static func isAnonymous(_ uri: String) -> Bool {
    guard let address = SIPAddress(uri) else { return number(inURI: uri) == nil }
    return address.host.lowercased() == "anonymous.invalid"
      || address.user.lowercased() == "anonymous"
  }

  /// Returns the URI of a route without its parameter `lr`, which libre adds itself (RFC 3261
  /// section 19.1.1).
  static func route(_ uri: String) -> String {
    let fields = uri.split(separator: ";", omittingEmptySubsequences: false)
    return fields.filter { !["lr", "lr=on", "lr=true"].contains($0.lowercased()) }
      .joined(separator: ";")
  }

  /// Returns the number of a `tel` URI without its parameters (RFC 3966); nil if `uri` is none.
  package static func number(inURI uri: String) -> String? {
    guard uri.prefix(4).lowercased() == "tel:" else { return nil }
    let number = uri.dropFirst(4).prefix { $0 != ";" }
    let isNumber = number.allSatisfy { $0.isASCII && ($0.isHexDigit || "+-.()*#".contains($0)) }
    return isNumber && number.contains(where: \.isNumber) ? String(number) : nil
  }

  /// The port for unencrypted signalling: the given one, or 5060.
  package var port: UInt16 { givenPort ?? SIPTransport.udp.defaultPort }

  /// The port for TLS: the given one if the URI asks for TLS, else the given one plus 1; 5061 if
  /// none is given.
  package var securePort: UInt16 {
    guard let givenPort else { return SIPTransport.tls.defaultPort }
    return transport == .tls || givenPort == .max ? givenPort : givenPort + 1
  }

  // A user as it may stand in a URI (RFC 3261 section 25.1), one form for each: people dial `#`,
  // and write names in their own letters.
  private static func escaped(_ user: String) -> String {
    let plain = Set("-_.!~*'()&=+$,;?/:".utf8)
    let bytes = Array(user.utf8)
    func isHex(_ place: Int) -> Bool {
      place < bytes.count && Character(UnicodeScalar(bytes[place])).isHexDigit
    }
    var text = ""
    var place = 0
    while place < bytes.count {
      let (byte, scalar) = (bytes[place], UnicodeScalar(bytes[place]))
      let isEscape = byte == UInt8(ascii: "%") && isHex(place + 1) && isHex(place + 2)
      if isEscape {
        text += String(decoding: bytes[place..<place + 3], as: UTF8.self).uppercased()
        place += 3
        continue
      }
      let isLetter = byte < 128 && (Character(scalar).isLetter || Character(scalar).isNumber)
      if isLetter || plain.contains(byte) {
        text.unicodeScalars.append(scalar)
      } else {
        text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
      place += 1
    }
    return text
  }

  private var userPart: String { user.isEmpty ? "" : "\(user)@" }

  /// The URI without parameters.
  package var uri: String {
    "sip:\(userPart)\(SocketAddress.literal(host))" + (givenPort.map { ":\($0)" } ?? "")
  }

  /// The parameter that asks for the URI's transport; empty if it leaves the choice, or asks for
  /// UDP, which is tried anyway.
  package var wayParameter: String {
    if let foreignTransport { return ";transport=\(foreignTransport)" }
    return transport.map { $0 == .udp ? "" : ";transport=\($0.rawValue)" } ?? ""
  }

  /// The URI with its parameters and the one for its transport.
  package var wholeURI: String { uri + parameters + wayParameter }

  /// Returns the URI for a transport, with a numeric address in place of the host.
  package func uri(atNumericHost numericHost: String, by transport: SIPTransport) -> String {
    let host = SocketAddress.literal(numericHost)
    let port = transport == .tls ? securePort : port
    let parameter = transport == .udp ? "" : ";transport=\(transport.rawValue)"
    return "sip:\(userPart)\(host):\(port)\(parameters)\(parameter)"
  }
}
