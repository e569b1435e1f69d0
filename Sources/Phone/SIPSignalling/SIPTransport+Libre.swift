import CLibre

extension SIPTransport {
  /// The transport as libre names it.
  var inLibre: sip_transp {
    switch self {
    case .udp: SIP_TRANSP_UDP
    case .tcp: SIP_TRANSP_TCP
    case .tls: SIP_TRANSP_TLS
    }
  }
}
