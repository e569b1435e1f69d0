import Glibc

/// Host and port of one end of a datagram in a capture.
package struct Endpoint: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Bytes of the address, four or sixteen.
  let address: [UInt8]
  let port: UInt16

  package static func < (one: Endpoint, other: Endpoint) -> Bool { one.key < other.key }

  private var key: (Int, String, UInt16) {
    (address.count, address.map { String(Int($0) + 256, radix: 16) }.joined(), port)
  }

  /// Numeric address, an IPv6 one in brackets, and the port.
  package var description: String { address.count == 16 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Numeric address (RFC 5952).
  var host: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let family = address.count == 16 ? AF_INET6 : AF_INET
    guard unsafe inet_ntop(family, address, &text, socklen_t(text.count)) != nil else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Creates the endpoint of a numeric address in text; nil if it is none.
  init?(host: some StringProtocol, port: UInt16) {
    let isVersion6 = host.contains(":")
    var bytes = [UInt8](repeating: 0, count: isVersion6 ? 16 : 4)
    guard unsafe inet_pton(isVersion6 ? AF_INET6 : AF_INET, String(host), &bytes) == 1 else {
      return nil
    }
    self.init(address: bytes, port: port)
  }

  init(address: [UInt8], port: UInt16) {
    self.address = address
    self.port = port
  }
}

/// A UDP datagram in a capture; its end may be cut off.
struct CapturedDatagram {
  var source: Endpoint
  var destination: Endpoint
  var payload: ArraySlice<UInt8>
  /// Bytes of payload on the wire, including those that were not captured.
  var length: Int
  /// True if the capturing machine sent it; nil if the capture does not record that.
  var isOutgoing: Bool?
}

extension CapturedDatagram {
  private static let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]

  /// The datagram that this one carries to or from a TURN server, by a channel (RFC 8656 section
  /// 12.4) or an indication (section 11); the datagram itself if it carries none.
  ///
  /// The addresses stay those of the captured datagram.
  var unwrapped: CapturedDatagram {
    guard let inner = channelData ?? indicatedData, inner.length > 0 else { return self }
    var datagram = self
    datagram.payload = payload.dropFirst(inner.offset).prefix(inner.length)
    datagram.length = inner.length
    return datagram
  }

  private func number(at offset: Int) -> Int {
    Int(payload[payload.startIndex + offset]) << 8 | Int(payload[payload.startIndex + offset + 1])
  }

  // Padding is optional over UDP.
  private var channelData: (offset: Int, length: Int)? {
    guard payload.count > 4, (0x4000...0x4FFF).contains(number(at: 0)) else { return nil }
    let inner = number(at: 2)
    return (0..<4).contains(length - 4 - inner) ? (4, inner) : nil
  }

  // Send (0x0016) and Data (0x0017) indications, whose attribute DATA is 0x0013.
  private var indicatedData: (offset: Int, length: Int)? {
    guard payload.count >= 20, [0x0016, 0x0017].contains(number(at: 0)),
      payload.dropFirst(4).starts(with: Self.cookie)
    else { return nil }
    var offset = 20
    while offset + 4 <= payload.count {
      let size = number(at: offset + 2)
      if number(at: offset) == 0x0013 {
        return offset + 4 + size <= length ? (offset + 4, size) : nil
      }
      offset += 4 + (size + 3) / 4 * 4
    }
    return nil
  }
}

/// A frame as captured: the bytes on a link.
struct CapturedFrame {
  /// Kinds of frames.
  enum Content {
    case datagram(CapturedDatagram)
    /// A part of a TCP connection, which may hold a SIP message.
    case segment(ArraySlice<UInt8>)
    /// A fragment of an IP packet, which cannot be read alone.
    case fragment
    /// A packet in a tunnel that this program cannot read.
    case tunnel
    /// A link that this program cannot read.
    case unknownLink
    case other
  }

  let bytes: [UInt8]
  /// Link-layer header type, a `DLT_` or `LINKTYPE_` number of libpcap.
  let linkType: Int

  // Tunnels in tunnels, at most.
  private static let mostLayers = 12
  // AH, L2TPv3 and MPLS in IP; L2TP, GTP-U and Geneve over UDP.
  private static let tunnels: Set<UInt8> = [51, 115, 137]
  private static let tunnelPorts: Set<Int> = [1_701, 2_152, 6_081]

  /// Content of the frame: the UDP datagram in it, under any tags and tunnels.
  var content: Content {
    var content: Content
    switch linkType {
    case 0, 108: content = network(at: 4, layer: 0)  // loopback of BSD
    case 1: content = ethernet(at: 0, layer: 0)
    case 9: content = pointToPoint(at: 0, layer: 0)
    case 12, 14, 101, 228, 229: content = network(at: 0, layer: 0)  // IP itself
    case 113: content = type(at: 14, layer: 0)  // Linux, any interface
    case 276: content = bytes.count > 20 ? packet(number(at: 0), at: 20, layer: 0) : .other
    default: return .unknownLink
    }
    if case .datagram(var datagram) = content {
      // Linux says of each packet whether it was sent (4) or for this host (0).
      let place = linkType == 113 ? 1 : 10
      if linkType == 113 || linkType == 276, place < bytes.count {
        datagram.isOutgoing = bytes[place] == 4 ? true : bytes[place] == 0 ? false : nil
        content = .datagram(datagram)
      }
    }
    return content
  }

  private func ethernet(at offset: Int, layer: Int) -> Content {
    type(at: offset + 12, layer: layer)
  }

  // What follows a type as Ethernet numbers them.
  private func type(at offset: Int, layer: Int) -> Content {
    guard offset + 2 <= bytes.count else { return .other }
    return packet(number(at: offset), at: offset + 2, layer: layer)
  }

  private func packet(_ type: Int, at offset: Int, layer: Int) -> Content {
    guard layer < Self.mostLayers else { return .other }
    switch type {
    case 0x0800, 0x86DD: return network(at: offset, layer: layer)
    // Tags of virtual networks.
    case 0x8100, 0x88A8, 0x9100, 0x9200: return self.type(at: offset + 2, layer: layer + 1)
    // A ring of two ways (HSR, IEC 62439-3): both copies are captured.
    case 0x892F: return self.type(at: offset + 4, layer: layer + 1)
    case 0x8864: return pointToPoint(at: offset + 6, layer: layer)
    case 0x8847, 0x8848:
      var offset = offset
      while offset + 4 <= bytes.count {
        offset += 4
        if bytes[offset - 2] & 1 == 1 { return network(at: offset, layer: layer + 1) }
      }
      return .other
    // Tags that Wireshark reads: of Cisco's switches, VN-Tag, provider backbones.
    case 0x8909, 0x8926, 0x88E7: return .tunnel
    // A length (IEEE 802.3), with the type behind SNAP.
    case ...1_500 where bytes.dropFirst(offset).starts(with: [0xAA, 0xAA, 0x03]):
      return self.type(at: offset + 6, layer: layer + 1)
    default: return .other
    }
  }

  private func pointToPoint(at offset: Int, layer: Int) -> Content {
    guard offset + 4 <= bytes.count else { return .other }
    // Address and control of HDLC.
    let offset = number(at: offset) == 0xFF03 ? offset + 2 : offset
    guard offset + 2 <= bytes.count else { return .other }
    let isIP = [0x0021, 0x0057].contains(number(at: offset))
    return isIP ? network(at: offset + 2, layer: layer + 1) : .other
  }

  private func network(at offset: Int, layer: Int) -> Content {
    guard layer < Self.mostLayers, offset < bytes.count else { return .other }
    switch bytes[offset] >> 4 {
    case 4:
      guard offset + 20 <= bytes.count else { return .other }
      let header = Int(bytes[offset] & 0x0F) * 4
      guard header >= 20 else { return .other }
      let kind = bytes[offset + 9]
      guard number(at: offset + 6) & 0x3FFF == 0 else { return kind == 17 ? .fragment : .other }
      return transport(
        kind,
        at: offset + header,
        from: offset + 12..<offset + 16,
        to: offset + 16..<offset + 20,
        layer: layer
      )
    case 6:
      return version6(at: offset, layer: layer)
    default:
      return .other
    }
  }

  private func version6(at offset: Int, layer: Int) -> Content {
    guard offset + 40 <= bytes.count else { return .other }
    var kind = bytes[offset + 6]
    var next = offset + 40
    // Hop-by-hop options, a route, options of the destination; a fragment (RFC 8200 section 4).
    while [0, 43, 60, 44].contains(kind) {
      guard next + 8 <= bytes.count else { return .other }
      if kind == 44, number(at: next + 2) & 0xFFF9 != 0 {
        return bytes[next] == 17 ? .fragment : .other
      }
      let length = kind == 44 ? 8 : 8 * (Int(bytes[next + 1]) + 1)
      kind = bytes[next]
      next += length
    }
    return transport(
      kind,
      at: next,
      from: offset + 8..<offset + 24,
      to: offset + 24..<offset + 40,
      layer: layer
    )
  }

  private func transport(
    _ kind: UInt8,
    at offset: Int,
    from source: Range<Int>,
    to destination: Range<Int>,
    layer: Int
  ) -> Content {
    switch kind {
    case 4, 41: return network(at: offset, layer: layer + 1)
    case 47: return tunnel(at: offset, layer: layer)
    case 6: return segment(at: offset)
    case 17: break
    default: return Self.tunnels.contains(kind) ? .tunnel : .other
    }
    guard offset + 8 <= bytes.count else { return .other }
    let length = number(at: offset + 4)
    guard length > 8 else { return .other }
    let payload = bytes[offset + 8..<min(bytes.count, offset + length)]
    // RTP may have any port, and begins with its version.
    if Self.tunnelPorts.contains(number(at: offset + 2)), (payload.first ?? 0) >> 6 != 2 {
      return .tunnel
    }
    if let start = mirrored(payload, to: number(at: offset + 2)),
      case .datagram(let inner) = ethernet(at: offset + 8 + start, layer: layer + 1)
    {
      return .datagram(inner)
    }
    return .datagram(
      CapturedDatagram(
        source: endpoint(source, port: offset),
        destination: endpoint(destination, port: offset + 2),
        payload: payload,
        length: length - 8
      )
    )
  }

  // Where an Ethernet frame begins in a datagram: VXLAN (RFC 7348), also at Linux's former port;
  // TZSP, by which access points mirror traffic.
  private func mirrored(_ payload: ArraySlice<UInt8>, to port: Int) -> Int? {
    let begin = payload.startIndex
    switch port {
    case 4_789, 8_472: return payload.count > 22 && payload[begin] == 8 ? 8 : nil
    case 37_008:
      guard payload.count > 19, payload[begin] == 1, payload[begin + 3] == 1 else { return nil }
      var place = begin + 4
      while place < payload.endIndex, payload[place] != 1 {
        let isPadding = payload[place] == 0
        guard isPadding || place + 1 < payload.endIndex else { return nil }
        place += isPadding ? 1 : 2 + Int(payload[place + 1])
      }
      return place - begin + 1
    default: return nil
    }
  }

  private func segment(at offset: Int) -> Content {
    guard offset + 20 <= bytes.count else { return .other }
    let begin = offset + 4 * Int(bytes[offset + 12] >> 4)
    return begin < bytes.count ? .segment(bytes[begin...]) : .other
  }

  // GRE (RFC 2784, RFC 2890).
  private func tunnel(at offset: Int, layer: Int) -> Content {
    guard offset + 4 <= bytes.count else { return .other }
    let flags = bytes[offset]
    let options = [0x80, 0x20, 0x10].count { flags & UInt8($0) != 0 }
    let inner = offset + 4 + 4 * options
    let type = number(at: offset + 2)
    switch type {
    case 0x6558: return ethernet(at: inner, layer: layer + 1)
    // Mirrors of a switch (ERSPAN): of the first kind without a header, of the second with one.
    case 0x88BE: return ethernet(at: inner + (flags & 0x10 != 0 ? 8 : 0), layer: layer + 1)
    case 0x22EB:
      guard inner + 12 <= bytes.count else { return .other }
      return ethernet(at: inner + (bytes[inner + 11] & 1 != 0 ? 20 : 12), layer: layer + 1)
    default: return packet(type, at: inner, layer: layer + 1)
    }
  }

  private func endpoint(_ address: Range<Int>, port: Int) -> Endpoint {
    Endpoint(address: Array(bytes[address]), port: UInt16(number(at: port)))
  }

  private func number(at offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
}
