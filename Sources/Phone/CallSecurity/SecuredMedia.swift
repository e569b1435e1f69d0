public import SRTP

/// What a handshake has brought: keys at work, and whose they are.
public struct SecuredMedia: Sendable {
  /// The keys, for the streams of the call.
  package let session: SRTPSession
  /// What the call can say of its protection.
  public let encryption: Encryption
  /// True if the far side's certificate has no end, and so is meant to be remembered.
  package let isLasting: Bool
}

/// How a call is encrypted, and whom it is encrypted with.
public struct Encryption: Equatable, Sendable {
  /// How the sides came to their keys.
  public enum KeyExchange: String, Equatable, Sendable {
    /// By a handshake of the two, which nobody on the way has keys of (RFC 5764).
    case handshake = "DTLS-SRTP"
    /// By the signalling: every server on its way has them (RFC 4568).
    case described = "SDES"
  }

  /// The cipher of the voice.
  public let profile: SRTPProfile
  /// How the sides came to their keys.
  public let keyExchange: KeyExchange
  /// The far side's identity, nil if the keys were described.
  public let fingerprint: Fingerprint?
  /// Four words that both sides show if nobody sits between them; nil if the far side has none.
  public let words: [String]?

  package init(profile: SRTPProfile, fingerprint: Fingerprint?, words: [String]?) {
    self.profile = profile
    keyExchange = fingerprint == nil ? .described : .handshake
    self.fingerprint = fingerprint
    self.words = words
  }
}
