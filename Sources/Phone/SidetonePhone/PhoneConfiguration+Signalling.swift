import CallSecurity
import SIPSignalling

/// Signalling according to a configuration.
extension PhoneConfiguration {
  /// True if a certificate is needed, for encryption or for accounts.
  var needsIdentity: Bool { security != .off || !accounts.isEmpty }

  /// Returns the encryption of offers; nil if there is to be none.
  func encryption(as identity: Identity?) -> EncryptionOffer? {
    guard security != .off else { return nil }
    return identity.map {
      EncryptionOffer(fingerprint: $0.fingerprint, isRequired: security == .required)
    }
  }
}

extension UserAgent {
  /// Starts the agent with the encryption of `configuration`, and returns the addresses that it has
  /// bound, for display; throws a `SIPError` if one cannot be bound.
  func start(_ configuration: PhoneConfiguration, as identity: Identity?) async throws -> [String] {
    try start(
      offering: configuration.encryption(as: identity),
      securing: configuration.security == .off ? nil : identity
    )
  }

  /// Registers the accounts of a configuration.
  func addAccounts(of configuration: PhoneConfiguration, as identity: Identity?) {
    guard let identity else { return }
    for account in configuration.accounts { add(account, identity: identity) }
  }
}
