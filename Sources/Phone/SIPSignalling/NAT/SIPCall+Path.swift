import ICE
import UDPTransport

/// What a call says about the way of its voice.
extension SIPCall {
  /// Tells the far side that this machine is at another address now; where the sides check their
  /// ways, once this side's new addresses are collected.
  ///
  /// Over another connection from the same address, the server learns by which way this side is
  /// reached now.
  func move(to host: String, addresses: [String], hasMoved: Bool) {
    guard hasMoved else { return renegotiate() }
    description?.move(to: host)
    if let path { return path.restart(at: addresses) }
    renegotiate()
  }

  /// Reports what the sides have agreed on, and checks the ways that it names.
  func agree(on media: NegotiatedMedia, isOffer: Bool) {
    isHeld = !media.maySend || !media.mayReceive
    maySend = media.maySend
    report(.media(id, media))
    guard let path else { return }
    guard let addresses = media.addresses else { return path.suspend() }
    path.begin(with: addresses, isOffer: isOffer)
    description?.addresses = path.description
    // The far side may not have noticed that the way is lost, and goes on as it did. Two sides that
    // have must not begin anew at the same time.
    path.restartIfLost(afterSeconds: isOffer ? 1 : 3)
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
