import CCrypto
import MediaCore

/// The cipher for one kind of packets in one direction, made once and started anew for each packet.
///
/// **Thread safety:** one thread at a time. Nothing here allocates after the initialiser.
/// **Ownership:** it owns OpenSSL's context.
@safe
struct SRTPCipher: ~Copyable {
  /// The values that make the encryption of each packet different under the same keys.
  struct Nonce: BitwiseCopyable {
    let ssrc: UInt32
    /// The packet's index, of at most 48 bits.
    let index: Int64

    @_noAllocation @_noLocks
    init(ssrc: UInt32, index: Int64) {
      self.ssrc = ssrc
      self.index = index
    }
  }

  /// The parts of a datagram that are encrypted, and that are only authenticated.
  struct Layout: BitwiseCopyable {
    /// Number of bytes that stay readable, from the first on.
    let header: Int
    /// End of the encrypted bytes.
    let end: Int
    /// The word that is authenticated with the packet: the roll-over counter of SRTP, the index of
    /// SRTCP with its flag.
    let word: UInt32
    /// True if GCM authenticates `word` as well, as for SRTCP; SRTP's IV contains it (RFC 7714
    /// section 8.1).
    let hasWord: Bool

    @_noAllocation @_noLocks
    init(header: Int, end: Int, word: UInt32, hasWord: Bool) {
      self.header = header
      self.end = end
      self.word = word
      self.hasWord = hasWord
    }
  }

  private let isGCM: Bool
  /// Bytes of the tag.
  let tagLength: Int
  private let isSealing: Bool
  private let context: OpaquePointer
  private let mac: UnsafeMutablePointer<crypto_mac>
  private var scratch: ByteBuffer
  private let salt: ByteBuffer

  private static var ivAt: Int { @_noAllocation @_noLocks get { 0 } }
  private static var wordAt: Int { @_noAllocation @_noLocks get { 16 } }
  private static var codeAt: Int { @_noAllocation @_noLocks get { 20 } }

  /// A cipher for one kind of packets that encrypts if `isSealing`, else decrypts.
  init(
    _ profile: SRTPProfile,
    _ kind: SRTPSessionKeys.Kind,
    _ keys: SRTPSessionKeys,
    isSealing: Bool
  ) throws(SRTPError) {
    guard keys.cipherKey.count == profile.keyLength, keys.salt.count == profile.saltLength,
      keys.authenticationKey.count == 20
    else { throw .wrongKeyLength }
    let made =
      profile == .aeadAES128GCM
      ? unsafe crypto_gcm(keys.cipherKey, isSealing ? 1 : 0)
      : unsafe crypto_counter(keys.cipherKey)
    guard let context = unsafe made else { throw .outOfMemory }
    isGCM = profile == .aeadAES128GCM
    tagLength = profile.tagLength(of: kind)
    self.isSealing = isSealing
    unsafe self.context = context
    unsafe mac = .allocate(capacity: 1)
    unsafe crypto_mac_start(mac, keys.authenticationKey, keys.authenticationKey.count)
    scratch = ByteBuffer(repeating: 0, count: 40)
    salt = ByteBuffer(keys.salt + [UInt8](repeating: 0, count: 16 - keys.salt.count))
  }

  deinit {
    unsafe EVP_CIPHER_CTX_free(context)
    unsafe crypto_wipe(mac, MemoryLayout<crypto_mac>.size)
    unsafe mac.deallocate()
  }

  /// Encrypts a datagram in place and writes its tag at `tagAt`, or decrypts it and compares the
  /// tag.
  ///
  /// Returns false if the tag does not match or the layout does not fit; the contents of the
  /// datagram are then undefined.
  @_noAllocation @_noLocks
  mutating func apply(
    to datagram: inout ByteBuffer,
    _ layout: Layout,
    _ nonce: Nonce,
    tagAt: Int
  ) -> Bool {
    guard layout.header <= layout.end, tagAt >= layout.end,
      tagAt + tagLength <= datagram.count
    else { return false }
    prepare(nonce, layout.word)
    let length = CInt(truncatingIfNeeded: layout.end - layout.header)
    let start = unsafe datagram.address + layout.header
    let tag = unsafe datagram.address + tagAt
    if isGCM {
      return unsafe crypto_gcm_apply(
        context,
        scratch.address + Self.ivAt,
        datagram.address,
        CInt(truncatingIfNeeded: layout.header),
        scratch.address + Self.wordAt,
        layout.hasWord ? 4 : 0,
        start,
        length,
        tag
      ) == 1
    }
    // What is authenticated is encrypted (RFC 3711 section 3.3).
    if !isSealing {
      digest(datagram, count: layout.end)
      guard unsafe crypto_equal(tag, scratch.address + Self.codeAt, tagLength) == 1 else {
        return false
      }
    }
    guard unsafe crypto_counter_apply(context, scratch.address + Self.ivAt, start, length) == 1
    else { return false }
    guard isSealing else { return true }
    digest(datagram, count: layout.end)
    for offset in 0..<tagLength { datagram[tagAt + offset] = scratch[Self.codeAt + offset] }
    return true
  }

  // The IV (RFC 3711 section 4.1.1, RFC 7714 sections 8.1 and 9.1), and the word.
  @_noAllocation @_noLocks
  private mutating func prepare(_ nonce: Nonce, _ word: UInt32) {
    let ssrcAt = isGCM ? 2 : 4
    let indexAt = isGCM ? 6 : 8
    for offset in 0..<16 { scratch[Self.ivAt + offset] = salt[offset] }
    for offset in 0..<4 {
      let shift = UInt32(8 * (3 - offset))
      scratch[Self.ivAt + ssrcAt + offset] ^= UInt8(truncatingIfNeeded: nonce.ssrc >> shift)
      scratch[Self.wordAt + offset] = UInt8(truncatingIfNeeded: word >> shift)
    }
    for offset in 0..<6 {
      let shift = Int64(8 * (5 - offset))
      scratch[Self.ivAt + indexAt + offset] ^= UInt8(truncatingIfNeeded: nonce.index >> shift)
    }
  }

  @_noAllocation @_noLocks
  private mutating func digest(_ datagram: borrowing ByteBuffer, count: Int) {
    unsafe crypto_mac_digest(
      mac,
      datagram.address,
      count,
      scratch.address + Self.wordAt,
      4,
      scratch.address + Self.codeAt
    )
  }
}

/// The ciphers of one direction: for RTP and for RTCP.
struct SRTPCiphers: ~Copyable {
  var media: SRTPCipher
  var control: SRTPCipher
  /// True if SRTCP has its index behind the tag, as with GCM (RFC 7714 section 9.2), false if
  /// before it.
  let isTagFirst: Bool

  /// The ciphers with the keys that are derived from a master key.
  init(_ profile: SRTPProfile, _ master: SRTPMasterKey, isSealing: Bool) throws(SRTPError) {
    let media = try SRTPSessionKeys(from: master, .media)
    let control = try SRTPSessionKeys(from: master, .control)
    try self.init(profile, media: media, control: control, isSealing: isSealing)
  }

  init(
    _ profile: SRTPProfile,
    media: SRTPSessionKeys,
    control: SRTPSessionKeys,
    isSealing: Bool
  ) throws(SRTPError) {
    let mediaCipher = try SRTPCipher(profile, .media, media, isSealing: isSealing)
    let controlCipher = try SRTPCipher(profile, .control, control, isSealing: isSealing)
    self.media = mediaCipher
    self.control = controlCipher
    isTagFirst = profile == .aeadAES128GCM
  }
}
