/// A parsed IPv4 packet (RFC 791), for programs that change or make one.
package struct InternetPacket: Equatable, Sendable {
  /// The protocol of the payload.
  package enum Content: UInt8, Sendable {
    /// Internet control messages.
    case icmp = 1
    /// A segment of a connection.
    case tcp = 6
    /// A datagram.
    case udp = 17
  }

  /// Source address, four bytes.
  package var source: [UInt8]
  /// Destination address, four bytes.
  package var destination: [UInt8]
  /// Protocol of the payload.
  package let content: Content
  /// Source port, 0 for control messages.
  package var sourcePort: UInt16
  /// Destination port, 0 for control messages.
  package var destinationPort: UInt16
  /// Payload of a datagram; of other packets everything that follows the IP header.
  package var payload: [UInt8]

  /// A datagram.
  package init(
    from source: (address: [UInt8], port: UInt16),
    to destination: (address: [UInt8], port: UInt16),
    _ payload: [UInt8]
  ) {
    self.source = source.address
    self.destination = destination.address
    content = .udp
    sourcePort = source.port
    destinationPort = destination.port
    self.payload = payload
  }

  /// A control message of the given type, code and body (RFC 792).
  package init(
    from source: [UInt8],
    to destination: [UInt8],
    type: UInt8,
    code: UInt8,
    _ body: [UInt8]
  ) {
    self.source = source
    self.destination = destination
    content = .icmp
    sourcePort = 0
    destinationPort = 0
    var message = [type, code, 0, 0, 0, 0, 0, 0] + body
    let sum = Self.checksum(message)
    message[2] = UInt8(sum >> 8)
    message[3] = UInt8(truncatingIfNeeded: sum)
    payload = message
  }

  /// Parses a packet; nil if it is malformed, not IPv4, or of another protocol.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count >= 20, bytes[0] >> 4 == 4, let content = Content(rawValue: bytes[9]) else {
      return nil
    }
    let header = 4 * Int(bytes[0] & 15)
    guard header >= 20, bytes.count >= header + 8 else { return nil }
    func number(_ offset: Int) -> UInt16 {
      UInt16(bytes[header + offset]) << 8 | UInt16(bytes[header + offset + 1])
    }
    source = Array(bytes[12..<16])
    destination = Array(bytes[16..<20])
    self.content = content
    sourcePort = content == .icmp ? 0 : number(0)
    destinationPort = content == .icmp ? 0 : number(2)
    payload = Array(bytes[(header + (content == .udp ? 8 : 0))...])
  }

  /// The bytes of a datagram or a control message, with valid checksums; segments are not
  /// supported.
  package var bytes: [UInt8] {
    var body = payload
    if content == .udp {
      // A checksum of zero says that there is none (RFC 768).
      body =
        Self.bigEndian(sourcePort) + Self.bigEndian(destinationPort)
        + Self.bigEndian(UInt16(payload.count + 8)) + [0, 0] + payload
    }
    var header: [UInt8] = [0x45, 0] + Self.bigEndian(UInt16(20 + body.count))
    header += [0, 0, 0, 0, 64, content.rawValue, 0, 0] + source + destination
    let sum = Self.checksum(header)
    header[10] = UInt8(sum >> 8)
    header[11] = UInt8(truncatingIfNeeded: sum)
    return header + body
  }

  private static func bigEndian(_ number: UInt16) -> [UInt8] {
    [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt16 {
    var sum: UInt32 = 0
    for place in stride(from: 0, to: bytes.count, by: 2) {
      let low = place + 1 < bytes.count ? bytes[place + 1] : 0
      sum += UInt32(bytes[place]) << 8 | UInt32(low)
    }
    while sum > 0xffff { sum = (sum & 0xffff) + sum >> 16 }
    return ~UInt16(truncatingIfNeeded: sum)
  }
}
