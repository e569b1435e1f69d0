import CLibre

/// How SIP messages travel.
public enum SIPTransport: String, CaseIterable, Sendable {
  /// Datagrams in the open.
  case udp
  /// A connection in the open.
  case tcp
  /// An encrypted connection (RFC 3261 section 26.3).
  case tls

  /// The port where no other is given.
  var defaultPort: UInt16 { self == .tls ? 5_061 : 5_060 }

  var inLibre: sip_transp {
    switch self {
    case .udp: SIP_TRANSP_UDP
    case .tcp: SIP_TRANSP_TCP
    case .tls: SIP_TRANSP_TLS
    }
  }
}
