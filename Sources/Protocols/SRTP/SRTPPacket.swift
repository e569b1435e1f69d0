import MediaCore
import RTP

/// The header fields of RTP and RTCP packets that SRTP needs.
enum SRTPPacket {
  /// Number of bytes of SRTCP's header that stay readable.
  static var controlHeader: Int { @_noAllocation @_noLocks get { 8 } }
  /// The highest index of SRTCP (RFC 3711 section 3.2.1).
  static var lastControlIndex: UInt32 { @_noAllocation @_noLocks get { 0x7fff_ffff } }
  /// The flag of an encrypted SRTCP packet.
  static var encryptedFlag: UInt32 { @_noAllocation @_noLocks get { 0x8000_0000 } }

  /// True for RTCP on a port that RTP and RTCP share (RFC 5761).
  @_noAllocation @_noLocks
  static func isControl(_ datagram: borrowing ByteBuffer) -> Bool {
    RTCPPacketType.isRTCP(secondByte: datagram[1])
  }

  /// Length in bytes of the RTP header with contributing sources and extension; nil if the datagram
  /// is not RTP or is too short.
  @_noAllocation @_noLocks
  static func mediaHeader(of datagram: borrowing ByteBuffer, length: Int) -> Int? {
    guard length >= 12, length <= datagram.count, datagram[0] >> 6 == 2 else { return nil }
    var header = 12 + 4 * Int(datagram[0] & 15)
    if datagram[0] & 0x10 != 0 {
      guard header + 4 <= length else { return nil }
      header += 4 + 4 * Int(uint16(datagram, at: header + 2))
    }
    return header <= length ? header : nil
  }

  @_noAllocation @_noLocks
  static func uint16(_ datagram: borrowing ByteBuffer, at offset: Int) -> UInt16 {
    UInt16(datagram[offset]) << 8 | UInt16(datagram[offset + 1])
  }

  @_noAllocation @_noLocks
  static func uint32(_ datagram: borrowing ByteBuffer, at offset: Int) -> UInt32 {
    UInt32(uint16(datagram, at: offset)) << 16 | UInt32(uint16(datagram, at: offset + 2))
  }

  @_noAllocation @_noLocks
  static func write(_ word: UInt32, to datagram: inout ByteBuffer, at offset: Int) {
    for place in 0..<4 {
      datagram[offset + place] = UInt8(truncatingIfNeeded: word >> UInt32(8 * (3 - place)))
    }
  }

  /// The layout of a packet of RTP.
  @_noAllocation @_noLocks
  static func media(header: Int, end: Int, index: Int64) -> SRTPCipher.Layout {
    SRTPCipher.Layout(
      header: header,
      end: end,
      word: UInt32(truncatingIfNeeded: index >> 16),
      hasWord: false
    )
  }

  /// The layout of a compound packet of RTCP.
  @_noAllocation @_noLocks
  static func control(end: Int, word: UInt32) -> SRTPCipher.Layout {
    SRTPCipher.Layout(header: controlHeader, end: end, word: word, hasWord: true)
  }
}
