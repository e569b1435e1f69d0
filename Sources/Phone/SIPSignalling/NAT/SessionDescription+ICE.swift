import CLibre
import ICE
import UDPTransport

/// The ICE candidates of both sides in their descriptions (RFC 8839).
extension SessionDescription {
  /// Maximum number of the far side's candidates; more of them only make work.
  private static let candidateLimit = 16
  private static let lineLimit = 100

  // An answer has none that the offer had not (RFC 8839 section 4.3.1).
  func describeAddresses(asOffer isOffer: Bool) {
    for name in ["ice-ufrag", "ice-pwd", "candidate"] {
      unsafe re_description_remove(media, name)
    }
    guard let addresses, isOffer || hasRemoteAddresses else { return }
    _ = unsafe re_description_set(media, "ice-ufrag", addresses.credentials.userFragment)
    _ = unsafe re_description_set(media, "ice-pwd", addresses.credentials.password)
    for value in addresses.candidates.compactMap(\.attribute) {
      _ = unsafe re_description_add(media, "candidate", value)
    }
  }

  /// Returns the candidates and credentials in the far side's description; nil if none are usable,
  /// or if something on the way has replaced the far side's address (RFC 8839 section 4.2.5).
  func remoteAddresses(with host: String, _ port: UInt16) -> ICEDescription? {
    guard addresses != nil,
      let fragment = attribute("ice-ufrag", orOfSession: true),
      let password = attribute("ice-pwd", orOfSession: true)
    else { return nil }
    let credentials = ICECredentials(userFragment: fragment, password: password)
    var candidates = attributes("candidate").prefix(Self.lineLimit).compactMap {
      ICECandidate(attribute: $0)
    }
    .filter(\.address.isUnicast)
    // A hold of the older way says nothing about addresses.
    let own = SocketAddress(host: host, port: port)
    let named = candidates.first { $0.address == own }
    candidates = candidates.prefix(Self.candidateLimit - 1).filter { $0 != named }
    candidates += named.map { [$0] } ?? []
    guard credentials.isValid, named != nil || Self.isUnspecified(host) else { return nil }
    return ICEDescription(
      credentials: credentials,
      candidates: candidates,
      isLite: attribute("ice-lite", orOfSession: true) != nil
    )
  }
}
