import ICE
import UDPTransport

/// Signalling about the path of a call's voice.
extension SIPCall {
  /// Sends a re-INVITE with this machine's new address; with ICE, once the new candidates are
  /// collected.
  ///
  /// If the address is the same and only the connection is new, the re-INVITE shows the server how
  /// this side is reached now.
  func move(to host: String, addresses: [String], hasMoved: Bool) {
    guard hasMoved else { return renegotiate() }
    description?.move(to: host)
    if let path { return path.restart(at: addresses) }
    renegotiate()
  }

  /// Reports the agreed media, and begins to check paths to its ICE candidates.
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

  /// Offers this side's newly collected ICE candidates by a re-INVITE.
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
