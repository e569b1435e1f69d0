package import MediaCore

/// One block of a redundant payload, with its own payload type and timestamp (RFC 2198 section 3).
package struct RedundantBlock: Equatable, Sendable, BitwiseCopyable {
  /// Payload type of the block, 0 to 127.
  package var payloadType: UInt8
  /// Ticks from the block's timestamp to the packet's, 0 to 16383; 0 for the packet's own block.
  package var timestampOffset: Int
  /// Offset of its payload in the datagram.
  package var payloadOffset: Int
  /// Bytes of its payload.
  package var payloadLength: Int

  /// Byte range of its payload in the datagram.
  package var payload: Range<Int> {
    @_noAllocation @_noLocks get { payloadOffset..<payloadOffset + payloadLength }
  }

  @_noAllocation @_noLocks
  init(payloadType: UInt8, timestampOffset: Int, payloadOffset: Int, payloadLength: Int) {
    self.payloadType = payloadType
    self.timestampOffset = timestampOffset
    self.payloadOffset = payloadOffset
    self.payloadLength = payloadLength
  }
}

/// A payload with copies of earlier payloads before its own (RFC 2198 section 3).
///
/// `next` returns its blocks in their order: the oldest first, the packet's own last.
package struct RedundantPayload: Sendable {
  /// Header bytes of a redundant block.
  package static var headerLength: Int { @_noAllocation @_noLocks get { 4 } }
  /// Header bytes of the packet's own block.
  package static var ownHeaderLength: Int { @_noAllocation @_noLocks get { 1 } }
  /// The longest block that can be repeated, in bytes.
  package static var longestBlock: Int { @_noAllocation @_noLocks get { 1_023 } }
  /// The longest time from a repeated block to the packet's timestamp, in ticks.
  package static var longestOffset: Int { @_noAllocation @_noLocks get { 16_383 } }

  /// Number of blocks, including the packet's own.
  package let count: Int
  private let end: Int
  private var headerOffset: Int
  private var blockOffset: Int
  private var told = 0

  /// Reads the headers in the bytes `range` of `datagram`; nil if these are no redundant payload,
  /// or promise more bytes than there are.
  @_noAllocation @_noLocks
  package init?(parsing datagram: borrowing ByteBuffer, in range: Range<Int>) {
    guard range.lowerBound >= 0, range.upperBound <= datagram.count else { return nil }
    var offset = range.lowerBound
    var length = 0
    var count = 1
    while offset < range.upperBound, datagram[offset] & 0x80 != 0 {
      guard offset + Self.headerLength <= range.upperBound else { return nil }
      length += Int(BigEndian.readUInt16(datagram, at: offset + 2) & 0x3FF)
      offset += Self.headerLength
      count += 1
    }
    offset += Self.ownHeaderLength
    guard offset + length <= range.upperBound else { return nil }
    self.count = count
    end = range.upperBound
    headerOffset = range.lowerBound
    blockOffset = offset
  }

  /// The next block of `datagram`, which must be the one that was parsed; nil after the packet's
  /// own.
  @_noAllocation @_noLocks
  package mutating func next(in datagram: borrowing ByteBuffer) -> RedundantBlock? {
    guard told < count else { return nil }
    told += 1
    let payloadType = datagram[headerOffset] & 0x7F
    guard told < count else {
      return RedundantBlock(
        payloadType: payloadType,
        timestampOffset: 0,
        payloadOffset: blockOffset,
        payloadLength: end - blockOffset
      )
    }
    let length = Int(BigEndian.readUInt16(datagram, at: headerOffset + 2) & 0x3FF)
    let offset = Int(BigEndian.readUInt16(datagram, at: headerOffset + 1) &>> 2)
    let block = RedundantBlock(
      payloadType: payloadType,
      timestampOffset: offset,
      payloadOffset: blockOffset,
      payloadLength: length
    )
    headerOffset += Self.headerLength
    blockOffset += length
    return block
  }

  /// Writes the header of a block to `headerLength` bytes of `datagram` at `offset`.
  ///
  /// The block has `length` bytes, 0 to `longestBlock`, and began `timestampOffset` ticks before
  /// the packet, 1 to `longestOffset`.
  @_noAllocation @_noLocks
  package static func writeHeader(
    payloadType: UInt8,
    timestampOffset: Int,
    length: Int,
    to datagram: inout ByteBuffer,
    at offset: Int
  ) {
    datagram[offset] = 0x80 | payloadType
    let rest = UInt32(truncatingIfNeeded: timestampOffset & 0x3FFF) &<< 10
    let value = rest | UInt32(truncatingIfNeeded: length & 0x3FF)
    datagram[offset + 1] = UInt8(truncatingIfNeeded: value &>> 16)
    BigEndian.write(UInt16(truncatingIfNeeded: value), to: &datagram, at: offset + 2)
  }

  /// Writes the header of the packet's own block to the byte of `datagram` at `offset`.
  @_noAllocation @_noLocks
  package static func writeOwnHeader(
    payloadType: UInt8,
    to datagram: inout ByteBuffer,
    at offset: Int
  ) {
    datagram[offset] = payloadType & 0x7F
  }
}
