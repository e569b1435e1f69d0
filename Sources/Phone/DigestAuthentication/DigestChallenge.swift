/// A challenge of a server or a proxy in a 401 or 407 (RFC 7616 section 3.3).
package struct DigestChallenge: Equatable, Sendable {
  /// True for `Proxy-Authenticate`, false for `WWW-Authenticate`.
  package var isFromProxy = false
  package var realm: String
  package var nonce: String
  package var opaque: String?
  /// The name of the algorithm as the server has written it; nil means MD5.
  package var algorithm: String?
  /// The list in `qop`, the qualities of protection; nil if the server does not know them (RFC
  /// 2069).
  package var qualities: String?
  /// True if only the nonce was too old: the password was right.
  package var isStale = false

  package init(realm: String, nonce: String) {
    self.realm = realm
    self.nonce = nonce
  }

  /// The algorithm to answer with; nil if the challenge cannot be answered.
  var usableAlgorithm: DigestAlgorithm? {
    guard let algorithm = DigestAlgorithm(named: algorithm) else { return nil }
    guard let qualities else { return algorithm }
    // Messages are not signed with their bodies (`auth-int`).
    let list = qualities.split(separator: ",").map { $0.filter { !$0.isWhitespace }.lowercased() }
    return list.contains("auth") ? algorithm : nil
  }

  /// True if another challenge has the same realm and the same kind of sender, proxy or server.
  func isFromSamePlace(as other: DigestChallenge) -> Bool {
    realm == other.realm && isFromProxy == other.isFromProxy
  }
}
