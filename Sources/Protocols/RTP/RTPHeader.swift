package import MediaCore

/// The fixed header of an RTP packet (RFC 3550 section 5.1).
package struct RTPHeader: Equatable, Sendable, BitwiseCopyable {
  /// Bytes of a header without contributing sources and extension.
  package static var minimumLength: Int { @_noAllocation @_noLocks get { 12 } }

  /// True on the first packet of a talk spurt (RFC 3551 section 4.1).
  package var marker: Bool
  /// The payload type, 0 to 127.
  package var payloadType: UInt8
  /// The sequence number, which increases by one for each packet sent, and wraps.
  package var sequenceNumber: UInt16
  /// The media time of the first sample.
  package var timestamp: RTPTimestamp
  /// The synchronisation source.
  package var ssrc: UInt32

  /// A header with the given fields.
  @_noAllocation @_noLocks
  package init(
    marker: Bool,
    payloadType: UInt8,
    sequenceNumber: UInt16,
    timestamp: RTPTimestamp,
    ssrc: UInt32
  ) {
    self.marker = marker
    self.payloadType = payloadType
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
  }

  /// Writes the header to the first twelve bytes of `packet`, which must have room for it.
  @_noAllocation @_noLocks
  package func write(to packet: inout ByteBuffer) {
    packet[0] = 0x80
    packet[1] = (marker ? 0x80 : 0) | (payloadType & 0x7F)
    BigEndian.write(sequenceNumber, to: &packet, at: 2)
    BigEndian.write(timestamp.rawValue, to: &packet, at: 4)
    BigEndian.write(ssrc, to: &packet, at: 8)
  }
}

/// A parsed RTP packet: the header and the payload's place in the datagram.
package struct RTPPacket: Equatable, Sendable, BitwiseCopyable {
  /// The fixed header.
  package var header: RTPHeader
  /// Offset of the payload in the datagram.
  package var payloadOffset: Int
  /// Payload bytes without padding; zero is legal.
  package var payloadLength: Int

  /// Byte range of the payload in the datagram.
  package var payload: Range<Int> {
    @_noAllocation @_noLocks get { payloadOffset..<payloadOffset + payloadLength }
  }

  /// Parses the first `length` bytes of `datagram`; nil if they are not a valid RTP packet of
  /// version 2.
  ///
  /// Contributing sources and a header extension are skipped, padding is taken off. RTCP that
  /// shares the port (RFC 5761 section 4) is refused by its packet type.
  @_noAllocation @_noLocks
  package init?(parsing datagram: borrowing ByteBuffer, length count: Int) {
    guard count <= datagram.count, count >= RTPHeader.minimumLength, datagram[0] &>> 6 == 2,
      !RTCPPacketType.isRTCP(secondByte: datagram[1])
    else { return nil }

    var offset = RTPHeader.minimumLength + 4 * Int(datagram[0] & 0x0F)
    if datagram[0] & 0x10 != 0 {
      guard offset + 4 <= count else { return nil }
      offset += 4 + 4 * Int(BigEndian.readUInt16(datagram, at: offset + 2))
    }
    guard offset <= count else { return nil }

    var padding = 0
    if datagram[0] & 0x20 != 0 {
      padding = Int(datagram[count - 1])
      guard padding > 0 else { return nil }
    }
    guard offset + padding <= count else { return nil }

    header = RTPHeader(
      marker: datagram[1] & 0x80 != 0,
      payloadType: datagram[1] & 0x7F,
      sequenceNumber: BigEndian.readUInt16(datagram, at: 2),
      timestamp: RTPTimestamp(rawValue: BigEndian.readUInt32(datagram, at: 4)),
      ssrc: BigEndian.readUInt32(datagram, at: 8)
    )
    payloadOffset = offset
    payloadLength = count - offset - padding
  }
}
