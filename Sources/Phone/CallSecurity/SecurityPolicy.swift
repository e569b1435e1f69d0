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
}

/// Whether a call can be listened to on its way.
public enum CallProtection: Equatable, Sendable {
  /// Everybody on the way can listen.
  case open
  /// Only the far side can, of which `standing` says how well it is known.
  case encrypted(Encryption, standing: PeerStanding)
}

/// What is known of a far side before a call.
package enum PeerRecord: Equatable, Sendable {
  /// Nothing, or it was never encrypted.
  case unknown
  /// It was encrypted, with certificates that did not last.
  case encrypted
  /// Its identity.
  case identity(Fingerprint, isVerified: Bool)
}

/// What a call may be like, from the user's policy and what is remembered of the far side.
///
/// A value without I/O.
package struct SecurityRule: Equatable, Sendable {
  /// The far side's address, as it is remembered.
  package let address: String
  private let policy: SecurityPolicy
  private let record: PeerRecord

  /// The rule for a call with the far side at `address`.
  package init(_ policy: SecurityPolicy, address: String, record: PeerRecord) {
    self.policy = policy
    self.address = address
    self.record = record
  }

  /// Why encryption, or an open call with nil, is refused; nil if it is not.
  package func refusal(of fingerprint: Fingerprint?) -> String? {
    switch (record, fingerprint) {
    case (.identity(let known, _), .some(let shown)) where known != shown:
      "the identity of \(address) is not the one that it had before: somebody may be trying to "
        + "listen in, or it was set up anew. If you know why, accept the new one with: "
        + "sidetone peers forget \(address)"
    case (.identity, nil), (.encrypted, nil):
      "\(address) was encrypted before and is not now: somebody may be trying to listen in. If "
        + "you know why, allow an open call with: sidetone peers forget \(address)"
    case (.unknown, nil) where policy == .required:
      "\(address) cannot encrypt the call, and an open one is not allowed (--security required)"
    case (.identity, .some), (.encrypted, .some), (.unknown, _):
      nil
    }
  }

  /// True if no open call is allowed.
  package var isEncryptionRequired: Bool { refusal(of: nil) != nil }

  /// How well the far side is known.
  package func standing(isLasting: Bool) -> PeerStanding {
    switch record {
    case .identity(_, let isVerified): isVerified ? .verified : .known
    case .unknown, .encrypted: isLasting ? .new : .temporary
    }
  }
}
