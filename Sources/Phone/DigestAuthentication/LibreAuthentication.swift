package import CLibre
import RealTime

// libre answers challenges itself, inside its calls and subscriptions, and knows MD5 alone: it
// gives up where a server lists another algorithm first, though MD5 follows. Its functions for this
// are few and their state is opaque. These here have their names, so the dynamic linker binds
// libre's own calls to them as well (ELF symbol interposition), and nothing of libre is changed.
//
// All run on the event loop's thread.

/// Type of libre's callback `sip_auth_h`, which finds the user name and password for a realm.
private typealias Finder =
  @convention(c) (
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    UnsafePointer<CChar>?,
    UnsafeMutableRawPointer?
  ) -> CInt

/// The object behind a `struct sip_auth` of libre's.
@safe
private final class Authentication {
  var authenticator = DigestAuthenticator()
  private let finder: Finder?
  private let context: UnsafeMutableRawPointer?
  private let ownsContext: Bool

  init(_ finder: Finder?, _ context: UnsafeMutableRawPointer?, ownsContext: Bool) {
    unsafe self.finder = finder
    unsafe self.context = ownsContext ? mem_ref(context) : context
    self.ownsContext = ownsContext
  }

  deinit {
    if ownsContext { _ = unsafe mem_deref(context) }
  }

  @unsafe
  static func from(_ state: OpaquePointer?) -> Authentication? {
    guard let state = unsafe state else { return nil }
    let held = unsafe UnsafeRawPointer(state).load(as: UnsafeRawPointer.self)
    return unsafe Unmanaged<Authentication>.fromOpaque(held).takeUnretainedValue()
  }

  /// Terms in the context's credentials; nil for any.
  ///
  /// Only an owned context holds credentials.
  var terms: DigestTerms? {
    guard ownsContext, let context = unsafe context else { return nil }
    let credentials = unsafe context.assumingMemoryBound(to: re_credentials.self).pointee
    guard let realm = unsafe credentials.realm else { return nil }
    return unsafe DigestTerms(
      realm: String(cString: realm),
      isStrong: credentials.is_strong,
      hasQuality: credentials.has_quality,
      isProxyOnly: credentials.is_proxy_only
    )
  }

  func login(for realm: String) -> DigestAuthenticator.Login? {
    var user: UnsafeMutablePointer<CChar>?
    var password: UnsafeMutablePointer<CChar>?
    defer {
      _ = unsafe mem_deref(user)
      _ = unsafe mem_deref(password)
    }
    guard unsafe finder?(&user, &password, realm, context) == 0,
      let user = unsafe user, let password = unsafe password
    else { return nil }
    return unsafe .init(user: String(cString: user), password: String(cString: password))
  }
}

/// Replaces libre's function: allocates the object that answers the challenges in a request's
/// responses.
@c(sip_auth_alloc)
package func allocateAuthentication(
  _ place: UnsafeMutablePointer<OpaquePointer?>?,
  _ finder: (
    @convention(c) (
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
      UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
      UnsafePointer<CChar>?,
      UnsafeMutableRawPointer?
    ) -> CInt
  )?,
  _ context: UnsafeMutableRawPointer?,
  _ ownsContext: Bool
) -> CInt {
  guard let place = unsafe place else { return EINVAL }
  let state = unsafe mem_zalloc(MemoryLayout<UnsafeRawPointer>.size) { state in
    guard let state = unsafe state else { return }
    let held = unsafe state.load(as: UnsafeRawPointer.self)
    unsafe Unmanaged<Authentication>.fromOpaque(held).release()
  }
  guard let state = unsafe state else { return ENOMEM }
  let held = unsafe Authentication(finder, context, ownsContext: ownsContext)
  unsafe state.storeBytes(
    of: UnsafeRawPointer(Unmanaged.passRetained(held).toOpaque()),
    as: UnsafeRawPointer.self
  )
  unsafe place.pointee = OpaquePointer(state)
  return 0
}

/// Replaces libre's `sip_auth_authenticate`: accepts the challenges of a 401 or 407.
///
/// - Returns: 0; `EAUTH` if an answer was refused, `ENOSYS` if no algorithm is known, `EACCES`
///   without a password or if no challenge fits the terms, `EINVAL` without a state or message.
@c(sip_auth_authenticate)
package func authenticate(_ state: OpaquePointer?, _ message: UnsafePointer<sip_msg>?) -> CInt {
  guard let authentication = unsafe Authentication.from(state), let message = unsafe message else {
    return EINVAL
  }
  let challenges = unsafe DigestChallenge.all(in: message)
  do throws(DigestAuthenticator.Failure) {
    try authentication.authenticator.take(
      challenges,
      at: MonotonicClock.now(),
      terms: authentication.terms,
      login: authentication.login
    )
    return 0
  } catch {
    switch error {
    case .refused: return EAUTH
    case .unknownAlgorithm: return ENOSYS
    case .noLogin: return EACCES
    }
  }
}

/// Returns the terms of `DigestAuthenticator.terms` in an object of libre's; nil without one.
@unsafe
package func digestTerms(of state: OpaquePointer?) -> DigestTerms? {
  unsafe Authentication.from(state)?.authenticator.terms
}

/// Replaces libre's function: writes the answers into a request.
@c(sip_auth_encode)
package func encodeAuthentication(
  _ buffer: UnsafeMutablePointer<mbuf>?,
  _ state: OpaquePointer?,
  _ method: UnsafePointer<CChar>?,
  _ uri: UnsafePointer<CChar>?
) -> CInt {
  guard let buffer = unsafe buffer, let authentication = unsafe Authentication.from(state),
    let method = unsafe method, let uri = unsafe uri
  else { return EINVAL }
  let headers = unsafe authentication.authenticator.headers(
    method: String(cString: method),
    uri: String(cString: uri),
    clientNonce: String(UInt64.random(in: .min ... .max), radix: 16)
  )
  return unsafe mbuf_write_str(buffer, headers)
}

/// Replaces libre's function: forgets all challenges.
@c(sip_auth_reset)
package func resetAuthentication(_ state: OpaquePointer?) {
  unsafe Authentication.from(state)?.authenticator.reset()
}

extension DigestChallenge {
  /// The challenges of a message, in its order; those that cannot be read are left out.
  @unsafe
  fileprivate static func all(in message: UnsafePointer<sip_msg>) -> [DigestChallenge] {
    final class Found {
      var challenges: [DigestChallenge] = []
    }
    let found = Found()
    let context = unsafe Unmanaged.passUnretained(found).toOpaque()
    for header in [SIP_HDR_WWW_AUTHENTICATE, SIP_HDR_PROXY_AUTHENTICATE] {
      _ = unsafe sip_msg_hdr_apply(
        message,
        true,
        header,
        { header, _, context in
          guard let header = unsafe header, let context = unsafe context else { return false }
          let found = unsafe Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
          if let challenge = unsafe DigestChallenge(header.pointee) {
            found.challenges.append(challenge)
          }
          return false
        },
        context
      )
    }
    return found.challenges
  }

  @unsafe
  private init?(_ header: sip_hdr) {
    var fields = unsafe httpauth_digest_chall()
    var value = unsafe header.val
    guard unsafe httpauth_digest_challenge_decode(&fields, &value) == 0 else { return nil }
    unsafe self.init(realm: Self.text(fields.realm) ?? "", nonce: Self.text(fields.nonce) ?? "")
    isFromProxy = unsafe header.id == SIP_HDR_PROXY_AUTHENTICATE
    opaque = unsafe Self.text(fields.opaque)
    algorithm = unsafe Self.text(fields.algorithm)
    qualities = unsafe Self.text(fields.qop)
    isStale = unsafe Self.text(fields.stale)?.lowercased() == "true"
  }

  @unsafe
  private static func text(_ counted: pl) -> String? {
    // An empty field says as much as none.
    guard let start = unsafe counted.p, unsafe counted.l > 0 else { return nil }
    return unsafe String(
      decoding: UnsafeRawBufferPointer(start: start, count: counted.l),
      as: UTF8.self
    )
  }
}
