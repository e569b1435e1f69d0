/// A transport for SIP messages.
public enum SIPTransport: String, CaseIterable, Sendable {
  /// Unencrypted datagrams.
  case udp
  /// An unencrypted connection.
  case tcp
  /// An encrypted connection (RFC 3261 section 26.3).
  case tls

  /// The default port.
  package var defaultPort: UInt16 { self == .tls ? 5_061 : 5_060 }
}
