import CLibre
import DigestAuthentication

extension SIPAccount {
  /// Returns the credentials in libre's memory, for challenges on the given terms, or on any if
  /// nil.
  ///
  /// The caller releases them.
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
  /// Returns the credentials for requests other than REGISTER, which may pass through other hands
  /// than the server's.
  ///
  /// If the server accepts registrations without a password, its realm is assumed to be its domain.
  @unsafe
  func makeCredentials(isProxyOnly: Bool = false) -> UnsafeMutablePointer<re_credentials>? {
    let usual = DigestTerms(realm: account.domain, isStrong: false, hasQuality: false)
    var terms = terms ?? usual
    terms.isProxyOnly = isProxyOnly
    return unsafe account.makeCredentials(on: terms)
  }
}

extension SIPCall {
  /// Returns the credentials for the call's requests; nil without an account.
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
