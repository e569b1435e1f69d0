import CCrypto

/// An error of key derivation or cipher setup.
package enum SRTPError: Error, Equatable, Sendable {
  /// A key, a salt or a counter is not of the cipher's length.
  case wrongKeyLength
  /// OpenSSL has no memory, or does not have the cipher.
  case outOfMemory
}

/// A master key with its salt, from which the keys of one direction are derived (RFC 3711 section
/// 4.3).
package struct SRTPMasterKey: Equatable, Sendable {
  let key: [UInt8]
  let salt: [UInt8]
  /// The identifier that packets under this key carry (MKI, RFC 3711 section 3.1); empty for none.
  let identifier: [UInt8]

  /// A master key; nil if a length is not the profile's.
  package init?(
    key: [UInt8],
    salt: [UInt8],
    identifier: [UInt8] = [],
    for profile: SRTPProfile
  ) {
    guard key.count == profile.keyLength, salt.count == profile.saltLength else { return nil }
    self.key = key
    self.salt = salt
    self.identifier = identifier
  }

  /// True for the same key and salt: another identifier makes no other keys, and a session goes on.
  package static func == (one: SRTPMasterKey, other: SRTPMasterKey) -> Bool {
    one.key == other.key && one.salt == other.salt
  }
}

extension SRTPMasterKey {
  /// A random key.
  package static func random(for profile: SRTPProfile) throws(SRTPError) -> SRTPMasterKey {
    var bytes = [UInt8](repeating: 0, count: profile.keyLength + profile.saltLength)
    guard unsafe crypto_random(&bytes, CInt(bytes.count)) == 1 else { throw .outOfMemory }
    let master = SRTPMasterKey(
      key: Array(bytes[..<profile.keyLength]),
      salt: Array(bytes[profile.keyLength...]),
      for: profile
    )
    guard let master else { throw .wrongKeyLength }
    return master
  }

  /// Calls `body` with the key, followed by the salt.
  package func withBytes<Result>(_ body: ([UInt8]) -> Result) -> Result { body(key + salt) }
}

extension SRTPMasterKey: CustomStringConvertible, CustomReflectable {
  /// A text without the key, for logs.
  package var description: String { "a secret key" }
  /// A mirror without the key, for debuggers and test reports.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The keys that the sides of a call have agreed on: a profile, and a master key for each
/// direction.
package struct SRTPKeys: Equatable, Sendable {
  package let profile: SRTPProfile
  /// The key for the packets that this side sends.
  let local: SRTPMasterKey
  /// The key for the packets that the far side sends.
  let remote: SRTPMasterKey

  /// The keys of both directions.
  package init(profile: SRTPProfile, local: SRTPMasterKey, remote: SRTPMasterKey) {
    self.profile = profile
    self.local = local
    self.remote = remote
  }

  /// The keys as the far side has them.
  package var swapped: SRTPKeys { SRTPKeys(profile: profile, local: remote, remote: local) }

  /// Keys of both directions from bytes that `next` returns one by one, for simulations and tests.
  package init(_ profile: SRTPProfile, from next: () -> UInt8) throws(SRTPError) {
    func master() throws(SRTPError) -> SRTPMasterKey {
      let key = (0..<profile.keyLength).map { _ in next() }
      let salt = (0..<profile.saltLength).map { _ in next() }
      guard let master = SRTPMasterKey(key: key, salt: salt, for: profile) else {
        throw .wrongKeyLength
      }
      return master
    }
    let local = try master()
    self.init(profile: profile, local: local, remote: try master())
  }

  /// Random keys for a call to oneself.
  package static func toItself(_ profile: SRTPProfile) throws(SRTPError) -> SRTPKeys {
    let master = try SRTPMasterKey.random(for: profile)
    return SRTPKeys(profile: profile, local: master, remote: master)
  }
}

/// The keys that protect the packets of one kind and direction.
struct SRTPSessionKeys {
  /// The kind of packets that the keys are for, by the label of the first key (RFC 3711 section
  /// 4.3.2).
  enum Kind: UInt8 {
    case media = 0
    case control = 3
  }

  let cipherKey: [UInt8]
  let authenticationKey: [UInt8]
  let salt: [UInt8]

  init(cipherKey: [UInt8], authenticationKey: [UInt8], salt: [UInt8]) {
    self.cipherKey = cipherKey
    self.authenticationKey = authenticationKey
    self.salt = salt
  }

  /// Derives the keys for a kind of packets from a master key.
  init(from master: SRTPMasterKey, _ kind: Kind) throws(SRTPError) {
    let cipher = try SRTPCounterCipher(key: master.key)
    // A salt of 12 bytes is one of 14 that ends in zeros (RFC 7714 section 11).
    let salt = master.salt + [UInt8](repeating: 0, count: 16 - master.salt.count)
    func derive(_ number: UInt8, _ length: Int) throws(SRTPError) -> [UInt8] {
      var counter = salt
      counter[7] ^= kind.rawValue + number
      return try cipher.keyStream(from: counter, count: length)
    }
    cipherKey = try derive(0, master.key.count)
    authenticationKey = try derive(1, 20)
    self.salt = try derive(2, master.salt.count)
  }
}

/// AES-128 in counter mode, for the derivation of keys.
@safe
struct SRTPCounterCipher: ~Copyable {
  private let context: OpaquePointer

  init(key: [UInt8]) throws(SRTPError) {
    guard key.count == 16 else { throw .wrongKeyLength }
    guard let context = unsafe crypto_counter(key) else { throw .outOfMemory }
    unsafe self.context = context
  }

  deinit {
    unsafe EVP_CIPHER_CTX_free(context)
  }

  /// The first `count` bytes of the key stream that begins at a counter of 16 bytes.
  func keyStream(from counter: [UInt8], count: Int) throws(SRTPError) -> [UInt8] {
    guard counter.count == 16 else { throw .wrongKeyLength }
    var stream = [UInt8](repeating: 0, count: count)
    guard unsafe crypto_counter_apply(context, counter, &stream, CInt(count)) == 1 else {
      throw .outOfMemory
    }
    return stream
  }
}
