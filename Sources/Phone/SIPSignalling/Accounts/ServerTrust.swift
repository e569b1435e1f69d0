import CallSecurity
import CLibre
import Synchronization

/// The certificate that an account's server or relay must present by TLS: one that the system's
/// authorities vouch for under the server's name, or the very one that the account names.
///
/// **Thread safety:** any thread; libre's thread checks certificates during the handshake.
final class ServerTrust: Sendable {
  private let name: String
  private let certificate: Fingerprint?
  private let failure = Mutex<String?>(nil)

  /// Expects a certificate for this name; with a `certificate` only that one is accepted.
  init(_ name: String, certificate: Fingerprint?) {
    self.name = name
    self.certificate = certificate
  }

  /// Returns the reason why the server was refused last, in words, and forgets it; nil if there is
  /// none.
  func takeFailure() -> String? {
    failure.withLock { $0.take() }
  }

  private func judge(_ shown: Fingerprint, _ error: CInt) -> Bool {
    if let certificate {
      guard certificate != shown else { return true }
      note("it is not the one that the account names", shown)
      return false
    }
    guard error != 0 else { return true }
    let words = unsafe re_tls_error_text(error).map { unsafe String(cString: $0) } ?? "\(error)"
    note(words.lowercased(), shown)
    return false
  }

  private func note(_ reason: String, _ shown: Fingerprint) {
    failure.withLock {
      $0 =
        "the certificate of \(name) is not accepted: \(reason). If the server is your own, name "
        + "its certificate to the account: --certificate \(shown)"
    }
  }

  /// Returns a TLS context of libre's whose connections lead to this server alone.
  ///
  /// The caller releases it. Throws libre's error.
  @unsafe
  func makeContext(_ identity: Identity) throws(SIPStack.Failure) -> OpaquePointer {
    var context: OpaquePointer?
    let code = unsafe re_tls_alloc(
      &context,
      identity.pem,
      identity.pem.count,
      { trust, isServer, _, fingerprint, error in
        // Who opens a connection to this side is known by what comes over it.
        if isServer != 0 { return 1 }
        guard let trust = unsafe trust, let shown = unsafe Fingerprint(ofHash: fingerprint) else {
          return 0
        }
        let server = unsafe Unmanaged<ServerTrust>.fromOpaque(trust).takeUnretainedValue()
        return server.judge(shown, error) ? 1 : 0
      },
      // Never released: a handshake may end after the account has.
      Unmanaged.passRetained(self).toOpaque()
    )
    guard code == 0, let made = unsafe context else {
      _ = unsafe mem_deref(UnsafeMutableRawPointer(context))
      throw SIPStack.Failure(code: code, transport: .tls)
    }
    unsafe re_tls_name_all(made, name)
    return unsafe made
  }
}

extension Fingerprint {
  /// The fingerprint whose 32 bytes are at an address; nil for a null pointer.
  @unsafe
  init?(ofHash start: UnsafePointer<UInt8>?) {
    guard let start = unsafe start else { return nil }
    self.init(bytes: unsafe Array(UnsafeBufferPointer(start: start, count: 32)))
  }
}
