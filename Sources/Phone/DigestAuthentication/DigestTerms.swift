/// Conditions that a challenge must meet to be answered, taken from the server's challenge to the
/// account's REGISTER.
///
/// A call passes other servers, each of which may challenge. With the answer to a challenge of its
/// choice, such a server could search for the password, or log in at the account's server.
package struct DigestTerms: Equatable, Sendable {
  /// The realm of the server.
  package let realm: String
  /// True if the server's hash was better than MD5.
  package let isStrong: Bool
  /// True if the server has named a quality of protection (`qop`), so that an answer is valid once.
  package let hasQuality: Bool
  /// True in a dialog that the far side has begun: only challenges of proxies (407) are answered
  /// there, since the far side could misuse the answer to its own (401).
  package var isProxyOnly: Bool

  /// Terms with the given fields.
  package init(realm: String, isStrong: Bool, hasQuality: Bool, isProxyOnly: Bool = false) {
    self.realm = realm
    self.isStrong = isStrong
    self.hasQuality = hasQuality
    self.isProxyOnly = isProxyOnly
  }

  /// True if a challenge is within these terms: of the same realm, with no weaker hash, with a
  /// quality of protection if the server has named one, and a proxy's if `isProxyOnly`.
  func allows(_ challenge: DigestChallenge) -> Bool {
    let isMD5 = DigestAlgorithm(named: challenge.algorithm) == .md5
    return challenge.realm == realm && !(isStrong && isMD5)
      && !(hasQuality && challenge.qualities == nil) && !(isProxyOnly && !challenge.isFromProxy)
  }
}
