/// What a network analyser wrote down: the bytes on a link.
struct CapturedFrame {
  let bytes: [UInt8]
  /// The kind of link, as `LINKTYPE_` of the pcap format numbers it.
  let linkType: Int

  /// The bytes of a UDP datagram that the frame brings whole; nil if it brings something else.
  var datagram: ArraySlice<UInt8>? {
    guard let network = networkOffset, network < bytes.count else { return nil }
    let transport: Int
    switch bytes[network] >> 4 {
    case 4:
      guard network + 20 <= bytes.count, bytes[network + 9] == 17,
        // The first fragment of one is no whole datagram.
        number(at: network + 6) & 0x3FFF == 0
      else { return nil }
      transport = network + Int(bytes[network] & 0x0F) * 4
    case 6:
      guard network + 40 <= bytes.count, bytes[network + 6] == 17 else { return nil }
      transport = network + 40
    default:
      return nil
    }
    guard transport + 8 <= bytes.count else { return nil }
    let length = number(at: transport + 4)
    guard length > 8, transport + length <= bytes.count else { return nil }
    return bytes[transport + 8..<transport + length]
  }

  private var networkOffset: Int? {
    switch linkType {
    case 0: 4  // loopback of BSD
    case 1: ethernetOffset
    case 12, 14, 101: 0  // IP itself
    case 113: 16  // Linux, any interface
    case 276: 20  // the same, second version
    default: nil
    }
  }

  private var ethernetOffset: Int? {
    var offset = 12
    // Tags of virtual networks.
    while offset + 2 <= bytes.count, [0x8100, 0x88A8].contains(number(at: offset)) { offset += 4 }
    guard offset + 2 <= bytes.count, [0x0800, 0x86DD].contains(number(at: offset)) else {
      return nil
    }
    return offset + 2
  }

  private func number(at offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
}
