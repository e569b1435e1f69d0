package import MediaCore

/// RTCP packet types (RFC 3550 section 12.1, RFC 3611).
package enum RTCPPacketType {
  static var senderReport: UInt8 { 200 }
  static var receiverReport: UInt8 { 201 }
  static var sourceDescription: UInt8 { 202 }
  static var goodbye: UInt8 { 203 }
  static var extendedReport: UInt8 { 207 }

  /// True if the second byte of a datagram marks RTCP where both share a port (RFC 5761).
  @_noAllocation @_noLocks
  package static func isRTCP(secondByte: UInt8) -> Bool {
    (192...223).contains(secondByte)
  }
}

/// One reception report block (RFC 3550 section 6.4.1).
package struct RTCPReportBlock: Equatable, Sendable, BitwiseCopyable {
  /// The source reported on.
  package var ssrc: UInt32
  /// Share lost in the last interval, in 1/256.
  package var fractionLost: UInt8
  /// Packets lost since the beginning, -2^23 to 2^23 - 1.
  package var cumulativeLost: Int32
  /// Extended highest sequence number received.
  package var highestSequence: UInt32
  /// Interarrival jitter in ticks of the RTP clock.
  package var jitter: UInt32
  /// The middle 32 bits of the last sender report's NTP time; 0 if none was received.
  package var lastSenderReport: UInt32
  /// The delay since that report, in 1/65536 s.
  package var delaySinceLastSenderReport: UInt32

  /// A block with the given fields; the default values stand for unknown ones.
  @_noAllocation @_noLocks
  package init(
    ssrc: UInt32,
    fractionLost: UInt8 = 0,
    cumulativeLost: Int32 = 0,
    highestSequence: UInt32 = 0,
    jitter: UInt32 = 0,
    lastSenderReport: UInt32 = 0,
    delaySinceLastSenderReport: UInt32 = 0
  ) {
    self.ssrc = ssrc
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.highestSequence = highestSequence
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }

  static var length: Int { 24 }

  @_noAllocation @_noLocks
  init(reading bytes: borrowing ByteBuffer, at offset: Int) {
    ssrc = BigEndian.readUInt32(bytes, at: offset)
    let loss = BigEndian.readUInt32(bytes, at: offset + 4)
    fractionLost = UInt8(loss &>> 24)
    cumulativeLost = Int32(bitPattern: loss &<< 8) &>> 8
    highestSequence = BigEndian.readUInt32(bytes, at: offset + 8)
    jitter = BigEndian.readUInt32(bytes, at: offset + 12)
    lastSenderReport = BigEndian.readUInt32(bytes, at: offset + 16)
    delaySinceLastSenderReport = BigEndian.readUInt32(bytes, at: offset + 20)
  }

  @_noAllocation @_noLocks
  func write(to bytes: inout ByteBuffer, at offset: Int) {
    let clamped = max(-0x80_0000, min(0x7F_FFFF, cumulativeLost))
    let loss = UInt32(fractionLost) &<< 24 | (UInt32(bitPattern: clamped) & 0xFF_FFFF)
    BigEndian.write(ssrc, to: &bytes, at: offset)
    BigEndian.write(loss, to: &bytes, at: offset + 4)
    BigEndian.write(highestSequence, to: &bytes, at: offset + 8)
    BigEndian.write(jitter, to: &bytes, at: offset + 12)
    BigEndian.write(lastSenderReport, to: &bytes, at: offset + 16)
    BigEndian.write(delaySinceLastSenderReport, to: &bytes, at: offset + 20)
  }
}

/// The part of a sender report about the sender (RFC 3550 section 6.4.1).
package struct RTCPSenderInformation: Equatable, Sendable, BitwiseCopyable {
  /// Seconds and fractions since 1900, 32.32 bits.
  package var ntpTime: UInt64
  /// The media time at that moment.
  package var timestamp: RTPTimestamp
  /// RTP packets sent so far.
  package var packetCount: UInt32
  /// Payload bytes sent so far.
  package var octetCount: UInt32

  /// Sender information with the given fields.
  @_noAllocation @_noLocks
  package init(ntpTime: UInt64, timestamp: RTPTimestamp, packetCount: UInt32, octetCount: UInt32) {
    self.ntpTime = ntpTime
    self.timestamp = timestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
  }

  /// The middle 32 bits, which reports echo to measure the round trip.
  package var middleOfNTPTime: UInt32 {
    @_noAllocation @_noLocks get { UInt32(truncatingIfNeeded: ntpTime &>> 16) }
  }
}

/// An item of a compound RTCP packet.
package enum RTCPItem: Equatable, Sendable, BitwiseCopyable {
  /// A sender report's first part.
  case senderInformation(ssrc: UInt32, RTCPSenderInformation)
  /// A report block of a sender report or receiver report.
  case report(reporter: UInt32, RTCPReportBlock)
  /// A loss RLE report block (RFC 3611 section 4.1).
  case losses(reporter: UInt32, LossRuns)
  /// A BYE: the source leaves.
  case goodbye(ssrc: UInt32)
}

/// Iterator over the items of a compound RTCP packet, without allocation.
///
/// A malformed packet ends the iteration; a malformed block of an extended report ends that report.
package struct RTCPReader: Sendable {
  private var packetOffset = 0
  private var blocksLeft = 0
  private var blockOffset = 0
  /// End of the latest extended report, whose blocks are read at `blockOffset`; 0 before the first.
  private var extendedEnd = 0
  private var reporter: UInt32 = 0

  /// A reader at the beginning of a datagram.
  @_noAllocation @_noLocks
  package init() {}

  /// The next item in the first `length` bytes of `datagram`, which must be the same at each call;
  /// nil at the end.
  @_noAllocation @_noLocks
  package mutating func next(in datagram: borrowing ByteBuffer, length: Int) -> RTCPItem? {
    while true {
      if blocksLeft > 0 {
        blocksLeft -= 1
        let block = RTCPReportBlock(reading: datagram, at: blockOffset)
        blockOffset += RTCPReportBlock.length
        return .report(reporter: reporter, block)
      }
      if blockOffset < extendedEnd {
        if let runs = nextLosses(in: datagram) { return .losses(reporter: reporter, runs) }
        continue
      }

      let start = packetOffset
      guard length <= datagram.count, start + 8 <= length, datagram[start] &>> 6 == 2 else {
        return nil
      }
      let packetLength = 4 * (Int(BigEndian.readUInt16(datagram, at: start + 2)) + 1)
      let end = start + packetLength
      guard end <= length, packetLength >= 8 else { return nil }
      packetOffset = end

      let count = Int(datagram[start] & 0x1F)
      reporter = BigEndian.readUInt32(datagram, at: start + 4)
      switch datagram[start + 1] {
      case RTCPPacketType.senderReport:
        guard packetLength >= 28 + count * RTCPReportBlock.length else { return nil }
        blocksLeft = count
        blockOffset = start + 28
        let seconds = UInt64(BigEndian.readUInt32(datagram, at: start + 8))
        let fraction = UInt64(BigEndian.readUInt32(datagram, at: start + 12))
        return .senderInformation(
          ssrc: reporter,
          RTCPSenderInformation(
            ntpTime: seconds &<< 32 | fraction,
            timestamp: RTPTimestamp(rawValue: BigEndian.readUInt32(datagram, at: start + 16)),
            packetCount: BigEndian.readUInt32(datagram, at: start + 20),
            octetCount: BigEndian.readUInt32(datagram, at: start + 24)
          )
        )
      case RTCPPacketType.receiverReport:
        guard packetLength >= 8 + count * RTCPReportBlock.length else { return nil }
        blocksLeft = count
        blockOffset = start + 8
      case RTCPPacketType.extendedReport:
        blockOffset = start + 8
        extendedEnd = end
      case RTCPPacketType.goodbye:
        guard count > 0 else { continue }
        return .goodbye(ssrc: reporter)
      default:
        continue
      }
    }
  }

  // The next block of an extended report, nil if it is of another kind.
  @_noAllocation @_noLocks
  private mutating func nextLosses(in datagram: borrowing ByteBuffer) -> LossRuns? {
    let start = blockOffset
    guard start + 4 <= extendedEnd else {
      blockOffset = extendedEnd
      return nil
    }
    blockOffset = start + 4 * (Int(BigEndian.readUInt16(datagram, at: start + 2)) + 1)
    guard blockOffset <= extendedEnd else {
      blockOffset = extendedEnd
      return nil
    }
    return LossRuns(reading: datagram, at: start, end: blockOffset)
  }
}

/// Composes compound RTCP packets (RFC 3550 section 6.1): a report, the canonical name, the
/// received and the lost packets (RFC 3611), a goodbye.
package enum RTCPWriter {
  /// Upper limit to the length of a packet written here, in bytes.
  package static var maximumLength: Int { @_noAllocation @_noLocks get { 448 } }

  /// Writes a compound packet.
  ///
  /// - Parameters:
  ///   - packet: at least `maximumLength` bytes.
  ///   - ssrc: the reporter.
  ///   - sender: present if it sent RTP since the last report; makes this a sender report.
  ///   - block: the report block on the received source; nil if nothing was received.
  ///   - losses: the received and the lost packets of `block`'s source; those that are reported
  ///     here are not reported again.
  ///   - tellsLosses: true to report `losses`.
  ///   - canonicalName: the CNAME, written as sixteen hexadecimal digits (RFC 7022).
  ///   - isGoodbye: true to append a BYE.
  /// - Returns: its length in bytes.
  @_noAllocation @_noLocks
  package static func write(
    to packet: inout ByteBuffer,
    ssrc: UInt32,
    sender: RTCPSenderInformation?,
    block: RTCPReportBlock?,
    losses: inout LossMap,
    tellsLosses: Bool,
    canonicalName: UInt64,
    isGoodbye: Bool
  ) -> Int {
    var end = 8
    var type = RTCPPacketType.receiverReport
    var blocks: UInt8 = 0
    if let sender {
      type = RTCPPacketType.senderReport
      BigEndian.write(UInt32(truncatingIfNeeded: sender.ntpTime &>> 32), to: &packet, at: 8)
      BigEndian.write(UInt32(truncatingIfNeeded: sender.ntpTime), to: &packet, at: 12)
      BigEndian.write(sender.timestamp.rawValue, to: &packet, at: 16)
      BigEndian.write(sender.packetCount, to: &packet, at: 20)
      BigEndian.write(sender.octetCount, to: &packet, at: 24)
      end = 28
    }
    if let block {
      block.write(to: &packet, at: end)
      blocks = 1
      end += RTCPReportBlock.length
    }
    writeHeader(to: &packet, at: 0, end: end, count: blocks, type: type, ssrc: ssrc)

    // One chunk: SSRC, item CNAME (1), 16 octets, a null octet, padding to a word.
    let description = end
    packet[description + 8] = 1
    packet[description + 9] = 16
    for digit in 0..<16 {
      let nibble = UInt8(truncatingIfNeeded: canonicalName &>> UInt64(60 - 4 * digit)) & 0xF
      packet[description + 10 + digit] = nibble < 10 ? 48 + nibble : 87 + nibble
    }
    packet[description + 26] = 0
    packet[description + 27] = 0
    end = description + 28
    writeHeader(
      to: &packet,
      at: description,
      end: end,
      count: 1,
      type: RTCPPacketType.sourceDescription,
      ssrc: ssrc
    )

    if tellsLosses, let block,
      let told = losses.writeReport(on: block.ssrc, to: &packet, at: end + 8)
    {
      let extended = end
      end = told
      writeHeader(
        to: &packet,
        at: extended,
        end: end,
        count: 0,
        type: RTCPPacketType.extendedReport,
        ssrc: ssrc
      )
    }

    if isGoodbye {
      let goodbye = end
      end += 8
      writeHeader(
        to: &packet,
        at: goodbye,
        end: end,
        count: 1,
        type: RTCPPacketType.goodbye,
        ssrc: ssrc
      )
    }
    return end
  }

  @_noAllocation @_noLocks
  private static func writeHeader(
    to packet: inout ByteBuffer,
    at offset: Int,
    end: Int,
    count: UInt8,
    type: UInt8,
    ssrc: UInt32
  ) {
    packet[offset] = 0x80 | count
    packet[offset + 1] = type
    BigEndian.write(UInt16((end - offset) / 4 - 1), to: &packet, at: offset + 2)
    BigEndian.write(ssrc, to: &packet, at: offset + 4)
  }
}
