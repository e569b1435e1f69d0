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
    }
    return unsafe credentials
  }
}

extension AccountLine {
  /// The credentials for requests beside REGISTER, which pass other hands than the server's; nil if
  /// the server has not asked for any.
  @unsafe
  func makeCredentials() -> UnsafeMutablePointer<re_credentials>? {
    guard let terms else { return nil }
    return unsafe account.makeCredentials(on: terms)
  }
}

extension SIPCall {
  /// The credentials for the call's requests.
  ///
  /// None in a dialog that the far side has begun: it would choose what is answered, down to the
  /// address that the answer is good for.
  @unsafe
  func makeCredentials() -> UnsafeMutablePointer<re_credentials>? {
    guard !isIncoming, let account else { return nil }
    nonisolated(unsafe) var credentials: UnsafeMutablePointer<re_credentials>?
    agent.assumeIsolated {
      unsafe credentials = $0.line(of: account.address)?.makeCredentials()
    }
    return unsafe credentials
  }
}
