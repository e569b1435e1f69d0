import CTLS
import SRTP

/// One side of a DTLS handshake (RFC 6347), in memory: datagrams go in and come out.
///
/// **Thread safety:** one thread at a time. **Ownership:** it owns OpenSSL's connection.
@safe
struct DTLSAssociation: ~Copyable {
  /// The progress of the handshake.
  enum Progress: Equatable {
    case waiting
    case complete
    case failed
  }

  private let ssl: OpaquePointer
  private let isClient: Bool
  private(set) var progress = Progress.waiting
  /// True once no more is read: the far side has closed, or its data are damaged.
  private(set) var isClosed = false

  /// Maximum size in bytes of a datagram of several records; with headers it fits into 1,500 bytes.
  private static let largestDatagram = 1_200
  private static let recordHeader = 13
  private static let alert: UInt8 = 21

  /// Creates the client, which sends the first flight, or the server, which waits for it.
  init(_ identity: Identity, isClient: Bool) throws(IdentityError) {
    let made = unsafe identity.context.makeAssociation(isClient: isClient)
    guard let ssl = unsafe made else { throw .cannotBeMade }
    unsafe self.ssl = ssl
    self.isClient = isClient
    if isClient { advance() }
  }

  deinit {
    unsafe SSL_free(ssl)
  }

  /// Handles a received datagram.
  mutating func receive(_ datagram: [UInt8]) {
    let records = Self.withoutOpenAlerts(datagram)
    guard progress != .failed, !isClosed, !records.isEmpty,
      unsafe sec_feed(ssl, records, CInt(clamping: records.count)) == 1
    else { return }
    advance()
  }

  /// Returns the datagram without its unencrypted alerts, which anyone could forge to end the
  /// handshake.
  static func withoutOpenAlerts(_ datagram: [UInt8]) -> [UInt8] {
    var kept: [UInt8] = []
    var place = 0
    while place + recordHeader <= datagram.count {
      let length = recordHeader + (Int(datagram[place + 11]) << 8 | Int(datagram[place + 12]))
      let end = min(place + length, datagram.count)
      // The epoch is 0 as long as nothing is encrypted (RFC 6347 section 4.1).
      let isOpen = datagram[place + 3] == 0 && datagram[place + 4] == 0
      if datagram[place] != alert || !isOpen { kept += datagram[place..<end] }
      place = end
    }
    return kept + datagram[place...]
  }

  private mutating func advance() {
    guard progress == .waiting else { return }
    switch unsafe sec_step(ssl) {
    case 0: break
    case 1: progress = .complete
    default: progress = .failed
    }
  }

  /// Retransmits the last flight if its timer has expired (RFC 6347 section 4.2.4); to be called
  /// about every 20 ms while the handshake is waiting.
  mutating func repeatIfDue() {
    guard progress == .waiting else { return }
    if unsafe sec_repeat(ssl) < 0 { progress = .failed }
  }

  /// Encrypts a message to the far side.
  func send(_ message: [UInt8]) {
    guard progress == .complete else { return }
    _ = unsafe sec_write(ssl, message, CInt(clamping: message.count))
  }

  /// Notifies the far side that no more messages follow.
  func close() { unsafe sec_close(ssl) }

  /// Number of received bytes that were not read yet.
  var pendingBytes: Int { unsafe Int(clamping: sec_pending(ssl)) }

  /// Reads the next message from the far side, of at most 256 bytes; nil if there is none.
  mutating func nextMessage() -> [UInt8]? {
    var message = [UInt8](repeating: 0, count: 256)
    let length = unsafe sec_read(ssl, &message, CInt(message.count))
    if length < 0 { isClosed = true }
    return length > 0 ? Array(message[..<Int(length)]) : nil
  }

  /// Removes and returns the datagrams to send now.
  func takeDatagrams() -> [[UInt8]] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 16_384)
    while true {
      let length = unsafe sec_output(ssl, &part, CInt(part.count))
      guard length > 0 else { break }
      bytes += part[..<Int(length)]
    }
    return Self.datagrams(of: bytes)
  }

  /// Packs consecutive records into datagrams of whole records (RFC 6347 section 4.1).
  static func datagrams(of bytes: [UInt8]) -> [[UInt8]] {
    var datagrams: [[UInt8]] = []
    var place = 0
    while place + recordHeader <= bytes.count {
      let length = recordHeader + (Int(bytes[place + 11]) << 8 | Int(bytes[place + 12]))
      let record = bytes[place..<min(place + length, bytes.count)]
      if let last = datagrams.last, last.count + record.count <= largestDatagram {
        datagrams[datagrams.count - 1] += record
      } else {
        datagrams.append(Array(record))
      }
      place += length
    }
    return datagrams
  }

  // MARK: What it has agreed on

  /// Fingerprint of the far side's certificate, and whether it never expires; nil before the far
  /// side has sent one.
  var peer: (fingerprint: Fingerprint, isLasting: Bool)? {
    var bytes = [UInt8](repeating: 0, count: 32)
    var lasts: CInt = 0
    guard unsafe sec_peer(ssl, &bytes, &lasts) == 1 else { return nil }
    return Fingerprint(bytes: bytes).map { ($0, lasts != 0) }
  }

  /// The keys for SRTP (RFC 5764 section 4.2), nil if the sides have no profile in common.
  var keys: SRTPKeys? {
    let number = unsafe sec_profile(ssl)
    guard let profile = SRTPProfile.allCases.first(where: { Int($0.number) == Int(number) }) else {
      return nil
    }
    let (key, salt) = (profile.keyLength, profile.saltLength)
    var material = [UInt8](repeating: 0, count: 2 * (key + salt))
    defer { unsafe sec_wipe(&material, material.count) }
    guard unsafe sec_export(ssl, "EXTRACTOR-dtls_srtp", &material, material.count) == 1 else {
      return nil
    }
    let client = SRTPMasterKey(
      key: Array(material[..<key]),
      salt: Array(material[(2 * key)..<(2 * key + salt)]),
      for: profile
    )
    let server = SRTPMasterKey(
      key: Array(material[key..<(2 * key)]),
      salt: Array(material[(2 * key + salt)...]),
      for: profile
    )
    guard let client, let server else { return nil }
    return SRTPKeys(
      profile: profile,
      local: isClient ? client : server,
      remote: isClient ? server : client
    )
  }

  /// Keying material of 32 bytes for the words to compare (RFC 5705); nil before the handshake is
  /// complete.
  var secret: [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 32)
    guard progress == .complete,
      unsafe sec_export(ssl, "EXPERIMENTAL sidetone words", &bytes, bytes.count) == 1
    else { return nil }
    return bytes
  }
}
