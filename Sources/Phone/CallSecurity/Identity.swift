import CTLS

/// A user's identity: a key pair (P-256) and a certificate that is signed with it.
///
/// **Thread safety:** a value; every call that it secures has a handshake of its own.
public struct Identity: Sendable {
  /// SHA-256 fingerprint of the certificate.
  public let fingerprint: Fingerprint
  /// The key and the certificate as text (RFC 7468), which is secret.
  package let pem: [UInt8]
  let context: DTLSContext

  /// Makes a new identity.
  ///
  /// - Throws: `IdentityError.cannotBeMade` if there is no randomness or memory.
  public static func make() throws(IdentityError) -> Identity {
    var pem = [UInt8](repeating: 0, count: 4_096)
    defer { unsafe sec_wipe(&pem, pem.count) }
    let length = unsafe sec_make_identity("sidetone", &pem, CInt(pem.count))
    guard length > 0 else { throw .cannotBeMade }
    return try Identity(pem: Array(pem[..<Int(length)]))
  }

  /// Reads a key and its certificate.
  ///
  /// - Throws: `IdentityError.damaged` if the text does not have both, or they do not belong
  ///   together.
  package init(pem: [UInt8]) throws(IdentityError) {
    var bytes = [UInt8](repeating: 0, count: 32)
    let made = unsafe sec_context(pem, CInt(clamping: pem.count), &bytes)
    guard let context = unsafe made, let fingerprint = Fingerprint(bytes: bytes) else {
      throw .damaged
    }
    self.fingerprint = fingerprint
    self.pem = pem
    self.context = unsafe DTLSContext(context)
  }
}

extension Identity: CustomStringConvertible, CustomReflectable {
  /// The fingerprint, and no key.
  public var description: String { "SHA-256 \(fingerprint)" }
  /// The fingerprint, and no key.
  public var customMirror: Mirror { Mirror(self, children: ["fingerprint": fingerprint]) }
}

/// An error that prevents the use of an identity.
public enum IdentityError: Error, Equatable, Sendable, CustomStringConvertible {
  /// No key could be made.
  case cannotBeMade
  /// A file holds no key with its certificate.
  case damaged
  /// The file at a path is no identity.
  case damagedFile(path: String)
  /// Others may read the file.
  case readable(path: String)
  /// The file cannot be read or written, for the given reason.
  case inaccessible(path: String, reason: String)

  /// The fault and its remedy, in words.
  public var description: String {
    switch self {
    case .cannotBeMade: "no key could be made: the system has no randomness or no memory"
    case .damaged: "this is no key with its certificate"
    case .damagedFile(let path):
      "\(path) holds no key with its certificate; \"sidetone identity --renew\" makes new ones"
    case .readable(let path):
      "others may read what is secret in it; run: chmod 600 \(path)"
    case .inaccessible(let path, let reason):
      "cannot use \(path): \(reason)"
    }
  }
}

/// OpenSSL's settings for handshakes with one identity.
// SAFETY: OpenSSL counts references to it under a lock of its own, and it does not change.
@safe
final class DTLSContext: @unchecked Sendable {
  private let context: OpaquePointer

  @unsafe
  init(_ context: OpaquePointer) {
    unsafe self.context = context
  }

  deinit {
    unsafe SSL_CTX_free(context)
  }

  /// One side of a handshake; nil if memory is out.
  @unsafe
  func makeAssociation(isClient: Bool) -> OpaquePointer? {
    unsafe sec_association(context, isClient ? 1 : 0)
  }
}
