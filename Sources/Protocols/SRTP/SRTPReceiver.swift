package import MediaCore

/// Removes the protection of the far side's packets, and drops those that are forged or were
/// received before (RFC 3711, RFC 7714).
///
/// **Thread safety:** one thread at a time. Nothing here allocates after the initialiser.
package struct SRTPReceiver: ~Copyable {
  /// A source with its replay lists for RTP and RTCP.
  struct Source: BitwiseCopyable {
    let ssrc: UInt32
    var packets: PacketIndex
    var reports: PacketIndex

    @_noAllocation @_noLocks
    init(ssrc: UInt32) {
      self.ssrc = ssrc
      packets = .none
      reports = .none
    }
  }

  /// Maximum number of the far side's sources, which may change with each hold.
  ///
  /// No source is ever forgotten, since its old packets would count as new again.
  static var capacity: Int { @_noAllocation @_noLocks get { 128 } }

  private var ciphers: SRTPCiphers
  /// The identifier of the far side's master key in each packet (MKI), of `identifierLength` bytes;
  /// 0 for none.
  private let identifier: ByteBuffer
  private let identifierLength: Int
  private var sources: FixedArray<Source>
  private var sourceCount = 0

  /// Packets that were dropped: forged, damaged, or received before.
  package private(set) var dropped: Int64 = 0

  /// A receiver with the keys that are derived from a master key.
  ///
  /// - Throws: `SRTPError.outOfMemory`.
  package init(_ profile: SRTPProfile, _ master: SRTPMasterKey) throws(SRTPError) {
    let ciphers = try SRTPCiphers(profile, master, isSealing: false)
    self.init(ciphers, identifier: master.identifier)
  }

  init(_ ciphers: consuming SRTPCiphers, identifier: [UInt8] = []) {
    self.ciphers = ciphers
    self.identifier = ByteBuffer(identifier + [0])
    identifierLength = identifier.count
    sources = FixedArray(repeating: Source(ssrc: 0), count: Self.capacity)
  }

  /// Removes the protection of the first `length` bytes of `datagram` in place.
  ///
  /// - Returns: the length of the RTP or RTCP packet; nil if the datagram is not the far side's or
  ///   was received before, and then it is void.
  @_noAllocation @_noLocks
  package mutating func unprotect(_ datagram: inout ByteBuffer, length: Int) -> Int? {
    guard length >= 12, length <= datagram.count else { return drop() }
    let isControl = SRTPPacket.isControl(datagram)
    let tagLength = isControl ? ciphers.control.tagLength : ciphers.media.tagLength
    let length = removeIdentifier(from: &datagram, length, before: tagLength)
    let opened =
      isControl ? unprotectControl(&datagram, length) : unprotectMedia(&datagram, length)
    return opened ?? drop()
  }

  // The identifier stands before the tag (RFC 3711 section 3.1), with GCM at the end (RFC 7714
  // sections 8.2 and 9.2), and is not authenticated. Packets without it pass: the tag decides.
  @_noAllocation @_noLocks
  private func removeIdentifier(
    from datagram: inout ByteBuffer,
    _ length: Int,
    before tagLength: Int
  ) -> Int {
    let moved = ciphers.isTagFirst ? 0 : tagLength
    let start = length - moved - identifierLength
    guard identifierLength > 0, start >= 12 else { return length }
    for offset in 0..<identifierLength where datagram[start + offset] != identifier[offset] {
      return length
    }
    for offset in 0..<moved {
      datagram[start + offset] = datagram[start + identifierLength + offset]
    }
    return length - identifierLength
  }

  @_noAllocation @_noLocks
  private mutating func drop() -> Int? {
    dropped += 1
    return nil
  }

  @_noAllocation @_noLocks
  private mutating func unprotectMedia(_ datagram: inout ByteBuffer, _ length: Int) -> Int? {
    let end = length - ciphers.media.tagLength
    guard let header = SRTPPacket.mediaHeader(of: datagram, length: end) else { return nil }
    let ssrc = SRTPPacket.uint32(datagram, at: 8)
    let sequenceNumber = SRTPPacket.uint16(datagram, at: 2)
    let place = place(of: ssrc)
    var index = Int64(sequenceNumber)
    if let place {
      guard let estimated = sources[place].packets.index(of: sequenceNumber),
        sources[place].packets.mayAccept(estimated)
      else { return nil }
      index = estimated
    }
    let isOpen = ciphers.media.apply(
      to: &datagram,
      SRTPPacket.media(header: header, end: end, index: index),
      SRTPCipher.Nonce(ssrc: ssrc, index: index),
      tagAt: end
    )
    guard isOpen, let noted = self.place(noting: ssrc, at: place) else { return nil }
    sources[noted].packets.accept(index)
    return end
  }

  @_noAllocation @_noLocks
  private mutating func unprotectControl(_ datagram: inout ByteBuffer, _ length: Int) -> Int? {
    let end = length - ciphers.control.tagLength - 4
    guard end >= SRTPPacket.controlHeader else { return nil }
    let word = SRTPPacket.uint32(datagram, at: ciphers.isTagFirst ? length - 4 : end)
    // All that is ours to read is encrypted.
    guard word & SRTPPacket.encryptedFlag != 0 else { return nil }
    let index = Int64(word & ~SRTPPacket.encryptedFlag)
    let ssrc = SRTPPacket.uint32(datagram, at: 4)
    let place = place(of: ssrc)
    if let place, !sources[place].reports.mayAccept(index) { return nil }
    let isOpen = ciphers.control.apply(
      to: &datagram,
      SRTPPacket.control(end: end, word: word),
      SRTPCipher.Nonce(ssrc: ssrc, index: index),
      tagAt: ciphers.isTagFirst ? end : end + 4
    )
    guard isOpen, let noted = self.place(noting: ssrc, at: place) else { return nil }
    sources[noted].reports.accept(index)
    return end
  }

  @_noAllocation @_noLocks
  private func place(of ssrc: UInt32) -> Int? {
    for place in 0..<sourceCount where sources[place].ssrc == ssrc { return place }
    return nil
  }

  // A source is remembered once a packet of it was authentic: forged ones take no place.
  @_noAllocation @_noLocks
  private mutating func place(noting ssrc: UInt32, at known: Int?) -> Int? {
    if let known { return known }
    guard sourceCount < Self.capacity else { return nil }
    sources[sourceCount] = Source(ssrc: ssrc)
    sourceCount += 1
    return sourceCount - 1
  }
}
