import CallSecurity
import CLibre
import Synchronization

/// What the servers of accounts have to show by TLS: a certificate that the system's authorities
/// vouch for under the server's name, or the very one that the account names.
///
/// **Thread safety:** any thread; libre's asks it during the handshake.
enum ServerTrust {
  private struct Server {
    var certificates: [Fingerprint] = []
    var failure: String?
  }

  private static let servers = Mutex<[String: Server]>([:])

  /// Expects a server of this name from now on, with a certificate of its own if it has one.
  static func expect(_ name: String, _ certificate: Fingerprint?) {
    servers.withLock { servers in
      servers[name, default: Server()].failure = nil
      if let certificate { servers[name]?.certificates.append(certificate) }
    }
  }

  /// Why the server was refused last, in words, which are forgotten; nil if it was not.
  static func takeFailure(of name: String) -> String? {
    servers.withLock { servers in
      defer { servers[name]?.failure = nil }
      return servers[name]?.failure
    }
  }

  private static func judge(_ name: String, _ shown: Fingerprint, _ error: CInt) -> Bool {
    servers.withLock { servers in
      if error == 0 || servers[name]?.certificates.contains(shown) == true { return true }
      let words = unsafe re_tls_error_text(error).map { unsafe String(cString: $0) } ?? "\(error)"
      servers[name, default: Server()].failure =
        "the certificate of \(name) is not accepted: \(words.lowercased()). If the server is your "
        + "own, name its certificate to the account: --certificate \(shown)"
      return false
    }
  }

  /// A context of libre's whose connections go to the server of this name alone; nil with libre's
  /// error.
  ///
  /// The caller releases it.
  @unsafe
  static func makeContext(
    _ name: String,
    _ identity: Identity
  ) -> Result<OpaquePointer, SIPStack.Failure> {
    var context: OpaquePointer?
    let code = unsafe re_tls_alloc(
      &context,
      identity.pem,
      identity.pem.count
    ) { isServer, token, fingerprint, error in
      // Who opens a connection to this side is known by what he says in it.
      if isServer != 0 { return 1 }
      guard let start = unsafe fingerprint, let token = unsafe token,
        let shown = Fingerprint(bytes: unsafe Array(UnsafeBufferPointer(start: start, count: 32)))
      else { return 0 }
      return ServerTrust.judge(unsafe String(cString: token), shown, error) ? 1 : 0
    }
    guard code == 0, let made = unsafe context else {
      _ = unsafe mem_deref(UnsafeMutableRawPointer(context))
      return unsafe .failure(SIPStack.Failure(code: code, transport: .tls))
    }
    unsafe re_tls_name_next(made, name)
    return unsafe .success(made)
  }
}
