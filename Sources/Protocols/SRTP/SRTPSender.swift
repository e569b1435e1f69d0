package import MediaCore

/// Protects the packets that this side sends, by SRTP and SRTCP (RFC 3711, RFC 7714).
///
/// **Thread safety:** one thread at a time. Nothing here allocates after the initialiser.
package struct SRTPSender: ~Copyable {
  private var ciphers: SRTPCiphers
  private var ssrc: UInt32 = 0
  /// The index of the newest packet of the source; negative before the first.
  private var newest: Int64 = -1
  var nextControl: UInt32 = 0

  /// The most bytes that protection adds to a datagram.
  package static var overhead: Int { @_noAllocation @_noLocks get { 20 } }

  /// A sender with the keys that are derived from a master key.
  ///
  /// - Throws: `SRTPError.outOfMemory`.
  package init(_ profile: SRTPProfile, _ master: SRTPMasterKey) throws(SRTPError) {
    let ciphers = try SRTPCiphers(profile, master, isSealing: true)
    self.init(ciphers)
  }

  init(_ ciphers: consuming SRTPCiphers) {
    self.ciphers = ciphers
  }

  /// Protects the first `length` bytes of `datagram`, RTP or RTCP, in place.
  ///
  /// - Parameters:
  ///   - datagram: `overhead` bytes larger than the packet at least.
  ///   - length: the packet's length in bytes.
  /// - Returns: the protected packet's length; nil if it may not be sent: it is not RTP or RTCP, or
  ///   its index may have been used already, whose key stream must not be used twice (RFC 3711
  ///   section 9.1).
  @_noAllocation @_noLocks
  package mutating func protect(_ datagram: inout ByteBuffer, length: Int) -> Int? {
    guard length >= 8, length + Self.overhead <= datagram.count else { return nil }
    return SRTPPacket.isControl(datagram)
      ? protectControl(&datagram, length) : protectMedia(&datagram, length)
  }

  @_noAllocation @_noLocks
  private mutating func protectMedia(_ datagram: inout ByteBuffer, _ length: Int) -> Int? {
    guard let header = SRTPPacket.mediaHeader(of: datagram, length: length) else { return nil }
    let source = SRTPPacket.uint32(datagram, at: 8)
    let sequenceNumber = SRTPPacket.uint16(datagram, at: 2)
    var index = Int64(sequenceNumber)
    if source == ssrc, newest >= 0 {
      let step = sequenceNumber &- UInt16(truncatingIfNeeded: newest)
      guard step > 0, step < 0x8000 else { return nil }
      index = newest + Int64(step)
    }
    guard index < Int64(1) << 48 else { return nil }
    let isSealed = ciphers.media.apply(
      to: &datagram,
      SRTPPacket.media(header: header, end: length, index: index),
      SRTPCipher.Nonce(ssrc: source, index: index),
      tagAt: length
    )
    guard isSealed else { return nil }
    ssrc = source
    newest = index
    return length + ciphers.media.tagLength
  }

  @_noAllocation @_noLocks
  private mutating func protectControl(_ datagram: inout ByteBuffer, _ length: Int) -> Int? {
    guard nextControl <= SRTPPacket.lastControlIndex else { return nil }
    let index = nextControl
    let word = index | SRTPPacket.encryptedFlag
    let tagLength = ciphers.control.tagLength
    let isSealed = ciphers.control.apply(
      to: &datagram,
      SRTPPacket.control(end: length, word: word),
      SRTPCipher.Nonce(ssrc: SRTPPacket.uint32(datagram, at: 4), index: Int64(index)),
      tagAt: ciphers.isTagFirst ? length : length + 4
    )
    guard isSealed else { return nil }
    SRTPPacket.write(word, to: &datagram, at: ciphers.isTagFirst ? length + tagLength : length)
    nextControl += 1
    return length + tagLength + 4
  }
}
