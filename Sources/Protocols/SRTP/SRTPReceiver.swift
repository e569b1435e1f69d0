package import MediaCore

/// Takes the protection off what the far side sends, and drops what is forged or was there before
/// (RFC 3711, RFC 7714).
///
/// **Thread safety:** one thread at a time. Nothing here allocates after the initialiser.
package struct SRTPReceiver: ~Copyable {
  /// A source and its packets.
  struct Source: BitwiseCopyable {
    let ssrc: UInt32
    var packets: PacketIndex
    /// When it was heard last, counted in packets.
    var age: Int64

    @_noAllocation @_noLocks
    init(ssrc: UInt32, packets: PacketIndex, age: Int64) {
      self.ssrc = ssrc
      self.packets = packets
      self.age = age
    }
  }

  /// How many sources are remembered; the one that was heard longest ago gives way.
  private static var capacity: Int { @_noAllocation @_noLocks get { 8 } }

  private var ciphers: SRTPCiphers
  private var sources: FixedArray<Source>
  private var sourceCount = 0
  private var accepted: Int64 = 0
  private var reports = PacketIndex.none

  /// Packets that were dropped: forged, damaged, or received before.
  package private(set) var dropped: Int64 = 0

  /// A receiver with the keys that follow from a master key.
  ///
  /// - Throws: `SRTPError.outOfMemory`.
  package init(_ profile: SRTPProfile, _ master: SRTPMasterKey) throws(SRTPError) {
    let ciphers = try SRTPCiphers(profile, master, isSealing: false)
    self.init(ciphers)
  }

  init(_ ciphers: consuming SRTPCiphers) {
    self.ciphers = ciphers
    let none = Source(ssrc: 0, packets: .none, age: 0)
    sources = FixedArray(repeating: none, count: Self.capacity)
  }

  /// Takes the protection off the first `length` bytes of `datagram` in place.
  ///
  /// - Returns: the length of the RTP or RTCP packet; nil if the datagram is not the far side's or
  ///   was received before, and then it is void.
  @_noAllocation @_noLocks
  package mutating func unprotect(_ datagram: inout ByteBuffer, length: Int) -> Int? {
    guard length >= 12, length <= datagram.count else { return drop() }
    let opened =
      SRTPPacket.isControl(datagram)
      ? unprotectControl(&datagram, length) : unprotectMedia(&datagram, length)
    return opened ?? drop()
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
    guard isOpen else { return nil }
    note(index, of: ssrc, at: place)
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
    guard reports.mayAccept(index) else { return nil }
    let isOpen = ciphers.control.apply(
      to: &datagram,
      SRTPPacket.control(end: end, word: word),
      SRTPCipher.Nonce(ssrc: SRTPPacket.uint32(datagram, at: 4), index: index),
      tagAt: ciphers.isTagFirst ? end : end + 4
    )
    guard isOpen else { return nil }
    reports.accept(index)
    return end
  }

  @_noAllocation @_noLocks
  private func place(of ssrc: UInt32) -> Int? {
    for place in 0..<sourceCount where sources[place].ssrc == ssrc { return place }
    return nil
  }

  // A source is remembered once a packet of it was authentic: forged ones take no place.
  @_noAllocation @_noLocks
  private mutating func note(_ index: Int64, of ssrc: UInt32, at place: Int?) {
    accepted += 1
    if let place {
      sources[place].packets.accept(index)
      sources[place].age = accepted
      return
    }
    var source = Source(ssrc: ssrc, packets: .none, age: accepted)
    source.packets.accept(index)
    guard sourceCount == Self.capacity else {
      sources[sourceCount] = source
      sourceCount += 1
      return
    }
    var oldest = 0
    for place in 1..<Self.capacity where sources[place].age < sources[oldest].age { oldest = place }
    sources[oldest] = source
  }
}
