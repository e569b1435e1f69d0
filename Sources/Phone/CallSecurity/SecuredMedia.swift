public import SRTP

/// The result of a handshake: keys in use, and the identity of the far side.
public struct SecuredMedia: Sendable {
  /// The keys, for the streams of the call.
  package let session: SRTPSession
  /// The encryption of the call, and the far side's identity.
  public let encryption: Encryption
  /// True if the far side's certificate never expires (RFC 5280 section 4.1.2.5), and so is
  /// remembered.
  package let isLasting: Bool
}

/// The encryption of a call, and the identity of the far side.
public struct Encryption: Equatable, Sendable {
  /// A method of key exchange.
  public enum KeyExchange: String, Equatable, Sendable {
    /// A handshake between the two sides: no server on the path has its keys (RFC 5764).
    case handshake = "DTLS-SRTP"
    /// The signalling: every server on its path has the keys (RFC 4568).
    case described = "SDES"
  }

  /// The cipher of the voice.
  public let profile: SRTPProfile
  /// The method of key exchange.
  public let keyExchange: KeyExchange
  /// The far side's identity; nil if the keys came by the signalling.
  public let fingerprint: Fingerprint?
  /// Four words that are the same on both sides unless an attacker is between them; nil if the far
  /// side does not exchange words.
  public let words: [String]?

  package init(profile: SRTPProfile, fingerprint: Fingerprint?, words: [String]?) {
    self.profile = profile
    keyExchange = fingerprint == nil ? .described : .handshake
    self.fingerprint = fingerprint
    self.words = words
  }
}
