/// Terms on which challenges to an account's requests are answered: no more than the server asked
/// for when the account was registered.
///
/// A call passes other hands, and each of them may challenge. An answer to a challenge of their
/// choice is something to find the password by, or to use with the server.
package struct DigestTerms: Equatable, Sendable {
  /// The realm of the server.
  package let realm: String
  /// True if its hash was better than MD5.
  package let isStrong: Bool
  /// True if it has named a quality of protection, so that an answer counts once.
  package let hasQuality: Bool
  /// True in a dialog that the far side has begun: there only proxies have something to ask (407),
  /// and a far side that asks (401) chooses what the answer is good for.
  package var isProxyOnly: Bool

  /// Terms with the given fields.
  package init(realm: String, isStrong: Bool, hasQuality: Bool, isProxyOnly: Bool = false) {
    self.realm = realm
    self.isStrong = isStrong
    self.hasQuality = hasQuality
    self.isProxyOnly = isProxyOnly
  }

  /// True if a challenge asks for no more than the server has, in the same realm.
  func allows(_ challenge: DigestChallenge) -> Bool {
    let isMD5 = DigestAlgorithm(named: challenge.algorithm) == .md5
    return challenge.realm == realm && !(isStrong && isMD5)
      && !(hasQuality && challenge.qualities == nil) && !(isProxyOnly && !challenge.isFromProxy)
  }
}
