/// Whether calls are encrypted.
public enum SecurityPolicy: String, CaseIterable, Sendable {
  /// A call that cannot be encrypted is none.
  case required
  /// Every call is encrypted if the far side can, and always if it ever was.
  case preferred
  /// Nothing is encrypted.
  case off
}

/// How well the far side of an encrypted call is known.
public enum PeerStanding: String, Equatable, Sendable {
  /// It is met for the first time.
  case new
  /// It has the identity that it had before.
  case known
  /// It has the identity of which the user has compared the words.
  case verified
  /// Its certificate is made for a while: there is no identity to remember.
  case temporary

  /// True if less is known of this far side than of the other.
  package func isLower(than other: PeerStanding) -> Bool { rank < other.rank }

  private var rank: Int {
    switch self {
    case .verified: 2
    case .known: 1
    case .new, .temporary: 0
    }
  }
}

/// Whether a call can be listened to on its way.
public enum CallProtection: Equatable, Sendable {
  /// Everybody on the way can listen.
  case open
  /// Only the far side can, of which `standing` says how well it is known.
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

/// What is remembered of a far side that was encrypted.
package struct PeerRecord: Equatable, Sendable {
  /// How its signalling was encrypted.
  package enum Signalling: Equatable, Sendable {
    /// With a certificate of this fingerprint.
    case certificate(Fingerprint)
    /// With a server's certificate, which the system's authorities vouch for.
    case authority
  }

  /// Its identity, nil if its certificates did not last.
  package let identity: Fingerprint?
  /// Whether the user has compared the words.
  package let isVerified: Bool
  /// Nil if its signalling was in the open.
  package let signalling: Signalling?

  /// A record with the given fields.
  package init(identity: Fingerprint?, isVerified: Bool = false, signalling: Signalling? = nil) {
    self.identity = identity
    self.isVerified = isVerified
    self.signalling = signalling
  }
}

/// What media claims about the far side.
package enum MediaClaim: Equatable, Sendable {
  /// Nothing: it is in the open.
  case open
  /// That it is encrypted, with keys that came by the signalling.
  case keys
  /// That it is encrypted, with the identity of this fingerprint.
  case identity(Fingerprint)
}

/// What a call may be like, from the user's policy and what is remembered of the far side.
///
/// A value without I/O.
package struct SecurityRule: Equatable, Sendable {
  /// The far side's address, as it is remembered.
  package let address: String
  private let policy: SecurityPolicy
  private let record: PeerRecord?
  private let announced: Fingerprint?
  private let isSecureSignallingForced: Bool

  /// The rule for a call with the far side at `address`, of which `record` is remembered.
  ///
  /// It may have `announced` an identity, which it then has to show; its signalling may have to be
  /// encrypted in any case.
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

  /// Why media is refused; nil if it is not.
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

  /// What to say of another identity than the remembered one.
  package var strangeIdentity: String {
    "the identity of \(address) is not the one that it had before: somebody may be trying to "
      + "listen in, or it was set up anew. If you know why, accept the new one with: "
      + "sidetone peers forget \(address)"
  }

  /// What to say if there is no encrypted connection where there has to be one.
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

  /// True to look for an encrypted connection first.
  package var wantsSecureSignalling: Bool { policy != .off || mayNotSignalOpenly }

  /// True if signalling in the open is out of the question.
  package var mayNotSignalOpenly: Bool { record?.signalling != nil || isSecureSignallingForced }

  /// How the far side's signalling was encrypted before, nil if it was not.
  package var rememberedSignalling: PeerRecord.Signalling? { record?.signalling }

  /// True if there is an identity to recognize the far side by.
  package var isRemembered: Bool { record?.identity != nil }

  /// Standing of a far side that proves the claim of its media; nil without encryption.
  package func standing(of claim: MediaClaim) -> PeerStanding? {
    switch claim {
    case .open: return nil
    case .keys: return .temporary
    case .identity(let fingerprint):
      guard let record, record.identity == fingerprint else { return .new }
      return record.isVerified ? .verified : .known
    }
  }

  /// How well the far side is known.
  package func standing(isLasting: Bool) -> PeerStanding {
    guard let record, record.identity != nil else { return isLasting ? .new : .temporary }
    return record.isVerified ? .verified : .known
  }
}
