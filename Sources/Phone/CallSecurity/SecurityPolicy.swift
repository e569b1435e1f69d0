/// The user's policy for the encryption of calls.
public enum SecurityPolicy: String, CaseIterable, Sendable {
  /// A call that cannot be encrypted is refused.
  case required
  /// A call is encrypted if the far side supports it, and has to be if the far side was encrypted
  /// before.
  case preferred
  /// Calls are not encrypted; connections to the servers of accounts may be.
  case off
}

/// The trust level of the far side of an encrypted call.
public enum PeerStanding: String, Equatable, Sendable {
  /// The far side is met for the first time.
  case new
  /// It has the identity that it had before.
  case known
  /// It has the identity that it had before, and the user has compared the words.
  case verified
  /// It has no identity to remember: its certificate is temporary, or the keys came by signalling.
  case temporary

  /// True if this trust level is lower than the other.
  package func isLower(than other: PeerStanding) -> Bool { rank < other.rank }

  private var rank: Int {
    switch self {
    case .verified: 2
    case .known: 1
    case .new, .temporary: 0
    }
  }
}

/// The protection of a call against eavesdropping.
public enum CallProtection: Equatable, Sendable {
  /// Everyone on the path can listen.
  case open
  /// The voice is encrypted; `standing` is the far side's trust level.
  ///
  /// With keys from signalling, the servers on its path can listen (`Encryption.KeyExchange`).
  case encrypted(Encryption, standing: PeerStanding)

  /// The protection in a few words, as they end a line about the call.
  package var remark: String {
    switch self {
    case .open: "not encrypted"
    case .encrypted(_, .verified): "encrypted and verified"
    case .encrypted(_, .known): "encrypted"
    case .encrypted(_, .new): "encrypted, new to you"
    case .encrypted(_, .temporary): "encrypted, not recognized"
    }
  }
}

/// The stored record of a far side with which there was an encrypted call or connection.
package struct PeerRecord: Equatable, Sendable {
  /// The encryption of its signalling.
  package enum Signalling: Equatable, Sendable {
    /// With a certificate of this fingerprint.
    case certificate(Fingerprint)
    /// With a server's certificate, which the system's authorities vouch for.
    case authority
  }

  /// Its identity; nil if it has shown no lasting certificate.
  package let identity: Fingerprint?
  /// True if the user has compared the words.
  package let isVerified: Bool
  /// The encryption of its signalling; nil if that was not encrypted.
  package let signalling: Signalling?

  /// A record with the given fields.
  package init(identity: Fingerprint?, isVerified: Bool = false, signalling: Signalling? = nil) {
    self.identity = identity
    self.isVerified = isVerified
    self.signalling = signalling
  }
}

/// The claim of a call's media about its encryption and the far side's identity.
package enum MediaClaim: Equatable, Sendable {
  /// The media is not encrypted.
  case open
  /// It is encrypted, with keys that came by the signalling.
  case keys
  /// It is encrypted, with the identity of this fingerprint.
  case identity(Fingerprint)
}

/// The security rules of a call, from the user's policy and the record of the far side.
///
/// A value without I/O.
package struct SecurityRule: Equatable, Sendable {
  /// The far side's address, as it is remembered.
  package let address: String
  private let policy: SecurityPolicy
  private let record: PeerRecord?
  private let announced: Fingerprint?
  private let isSecureSignallingForced: Bool

  /// The rules for a call with the far side at `address`, whose record is `record`.
  ///
  /// A far side that has `announced` an identity must present it. With `isSecureSignallingForced`,
  /// signalling must be encrypted in any case.
  package init(
    _ policy: SecurityPolicy,
    address: String,
    record: PeerRecord?,
    announced: Fingerprint? = nil,
    isSecureSignallingForced: Bool = false
  ) {
    self.policy = policy
    self.address = address
    self.record = record
    self.announced = announced
    self.isSecureSignallingForced = isSecureSignallingForced
  }

  /// The reason to refuse media, in words; nil if the media is accepted.
  package func refusal(of claim: MediaClaim) -> String? {
    if let known = record?.identity, claim != .open, claim != .identity(known) {
      return strangeIdentity
    }
    if record != nil, claim == .open {
      return "\(address) was encrypted before and is not now: somebody may be trying to listen in. "
        + "If you know why, allow an open call with: sidetone peers forget \(address)"
    }
    if let announced, claim != .identity(announced) {
      return "\(address) does not show the identity that it announces on the local network: "
        + "somebody may have announced another one in its name, or be in the way"
    }
    if policy == .required, claim == .open {
      return "\(address) cannot encrypt the call, and an open one is not allowed "
        + "(--security required)"
    }
    return nil
  }

  /// The message about an identity that is not the recorded one.
  package var strangeIdentity: String {
    "the identity of \(address) is not the one that it had before: somebody may be trying to "
      + "listen in, or it was set up anew. If you know why, accept the new one with: "
      + "sidetone peers forget \(address)"
  }

  /// The message about a required encrypted connection that cannot be made.
  package var missingConnection: String {
    guard record != nil else {
      return "there is no encrypted connection to \(address): nothing listens there, it is not the "
        + "port for TLS, or its certificate does not name the host"
    }
    return "there is no encrypted connection to \(address), as there was before: it is not "
      + "running, or somebody is in the way. If you know why, allow an open one with: "
      + "sidetone peers forget \(address)"
  }

  /// True if no open call is allowed.
  package var isEncryptionRequired: Bool { refusal(of: .open) != nil }

  /// True if the far side may choose between encryption and an open call.
  package var leavesTheChoice: Bool { policy == .preferred && !isEncryptionRequired }

  /// True if an encrypted connection is to be tried first.
  package var wantsSecureSignalling: Bool { policy != .off || mayNotSignalOpenly }

  /// True if unencrypted signalling is forbidden.
  package var mayNotSignalOpenly: Bool { record?.signalling != nil || isSecureSignallingForced }

  /// Recorded encryption of the far side's signalling; nil if there was none.
  package var rememberedSignalling: PeerRecord.Signalling? { record?.signalling }

  /// True if the far side's identity is recorded.
  package var isRemembered: Bool { record?.identity != nil }

  /// Trust level of a far side that proves the claim of its media; nil without encryption.
  package func standing(of claim: MediaClaim) -> PeerStanding? {
    switch claim {
    case .open: return nil
    case .keys: return .temporary
    case .identity(let fingerprint):
      guard let record, record.identity == fingerprint else { return .new }
      return record.isVerified ? .verified : .known
    }
  }

  /// Returns the trust level of the far side according to its record; without a recorded identity,
  /// `new` if its certificate is a lasting one (`isLasting`), else `temporary`.
  package func standing(isLasting: Bool) -> PeerStanding {
    guard let record, record.identity != nil else { return isLasting ? .new : .temporary }
    return record.isVerified ? .verified : .known
  }
}
