import ICE
import UDPTransport

/// What a call says about the way of its voice.
extension SIPCall {
  /// Tells the far side that this machine is at another address now; where the sides check their
  /// ways, once this side's new addresses are collected.
  func move(to host: String, addresses: [String]) {
    description?.move(to: host)
    if let path { return path.restart(at: addresses) }
    renegotiate()
  }

  /// The addresses of this side are collected once more.
  func offerAddresses() {
    guard let path else { return }
    description?.addresses = path.description
    if let own = path.description.defaultCandidate?.address {
      description?.move(to: own.host, own.port)
    }
    // A call that is not established yet is when it has another offer to make.
    wantsRenegotiation = wantsRenegotiation || !isEstablished
    renegotiate()
  }
}
