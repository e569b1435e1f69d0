import CLibre
import DigestAuthentication

extension SIPAccount {
  /// The credentials in libre's memory, for whom asks on the given terms, or on any; the
  /// caller releases them.
  @unsafe
  func makeCredentials(on terms: DigestTerms?) -> UnsafeMutablePointer<re_credentials>? {
    let credentials = unsafe re_credentials_alloc(login, password, terms?.realm)
    if let terms, let credentials = unsafe credentials {
      unsafe credentials.pointee.is_strong = terms.isStrong
      unsafe credentials.pointee.has_quality = terms.hasQuality
      unsafe credentials.pointee.is_proxy_only = terms.isProxyOnly
    }
    return unsafe credentials
  }
}

extension AccountLine {
  /// The credentials for requests beside REGISTER, which pass other hands than the server's.
  ///
  /// A server that takes registrations without a password has the realm of its domain.
  @unsafe
  func makeCredentials(isProxyOnly: Bool = false) -> UnsafeMutablePointer<re_credentials>? {
    let usual = DigestTerms(realm: account.domain, isStrong: false, hasQuality: false)
    var terms = terms ?? usual
    terms.isProxyOnly = isProxyOnly
    return unsafe account.makeCredentials(on: terms)
  }
}

extension SIPCall {
  /// The credentials for the call's requests.
  @unsafe
  func makeCredentials() -> UnsafeMutablePointer<re_credentials>? {
    guard let account else { return nil }
    let isProxyOnly = isIncoming
    nonisolated(unsafe) var credentials: UnsafeMutablePointer<re_credentials>?
    agent.assumeIsolated {
      let line = $0.line(of: account.address)
      unsafe credentials = line?.makeCredentials(isProxyOnly: isProxyOnly)
    }
    return unsafe credentials
  }
}
