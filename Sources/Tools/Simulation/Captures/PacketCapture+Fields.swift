import Foundation

/// Captures read by Wireshark's `tshark`, which reads files that libpcap does not.
///
/// Among these are files with several link types, Wi-Fi and fragments.
extension PacketCapture {
  /// Returns the arguments with which `tshark` prints a file for `add(line:)`, one line per
  /// datagram, or part of a TCP connection.
  package static func fieldArguments(of path: String) -> [String] {
    let fields = [
      "frame.time_epoch", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "udp.srcport", "udp.dstport",
      "udp.length", "sll.pkttype", "udp.payload", "frame.protocols", "frame.packet_flags_direction",
      "tcp.payload",
    ]
    return [
      "-r", path, "-n", "-Y",
      "(udp or tcp.payload contains \"m=audio\") and not icmp and not icmpv6", "-T", "fields",
      "-E", "occurrence=a", "-E", "aggregator=;",
    ]
      + fields.flatMap { ["-e", $0] }
  }

  /// Notes that the file ends within a packet.
  package mutating func noteCut() { isCutOff = true }

  /// Adds a line of these fields; one without a datagram or part of a connection is ignored.
  package mutating func add(line: Substring) {
    let all = line.split(separator: "\t", omittingEmptySubsequences: false)
    guard all.count == 13 else { return }
    // A session description may be in it.
    if all[5].isEmpty { return described.note(Self.bytes(all[12])[...]) }
    // A frame of Wi-Fi may hold several datagrams side by side (A-MSDU); of tunnels the inmost
    // counts.
    let count = max(1, all[10].split(separator: ":").count { $0 == "llc" })
    for place in 0..<count {
      add(
        fields: all.map { field in
          let values = field.split(separator: ";", omittingEmptySubsequences: false)
          return count > 1 && values.count == count ? values[place] : values.last ?? ""
        }
      )
    }
  }

  private mutating func add(fields: [Substring]) {
    guard let time = Self.nanoseconds(fields[0]),
      let source = Self.endpoint(fields[1], fields[3], fields[5], within: fields[10]),
      let destination = Self.endpoint(fields[2], fields[4], fields[6], within: fields[10]),
      let length = Int(fields[7]), length > 8
    else { return }
    add(
      CapturedDatagram(
        source: source,
        destination: destination,
        payload: Self.bytes(fields[9])[...],
        length: length - 8,
        isOutgoing: ["0": false, "4": true][fields[8]] ?? Self.isOutgoing(byFlags: fields[11])
      ),
      at: time
    )
  }

  private static func bytes(_ text: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { continue }
      if let first = high {
        bytes.append(first << 4 | UInt8(value))
        high = nil
      } else {
        high = UInt8(value)
      }
    }
    return bytes
  }

  // Inbound is 1, outbound 2, as a decimal or hexadecimal number.
  private static func isOutgoing(byFlags text: Substring) -> Bool? {
    let number = text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    return number.flatMap { [1: false, 2: true][$0] }
  }

  // In whole numbers: a time of day has more digits than a floating-point number.
  private static func nanoseconds(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ".")
    guard let seconds = parts.first.flatMap({ Int64($0) }), (0...4_000_000_000).contains(seconds)
    else { return nil }
    let digits = parts.count > 1 ? parts[1].prefix(9) : ""
    let padded = digits + String(repeating: "0", count: 9 - digits.count)
    return Int64(padded).map { seconds * 1_000_000_000 + $0 }
  }

  // Of an address of each kind, as in a tunnel, the one of the layer that carries the datagram.
  private static func endpoint(
    _ version4: Substring,
    _ version6: Substring,
    _ port: Substring,
    within protocols: Substring
  ) -> Endpoint? {
    let layers = protocols.split(separator: ":")
    let inmost = layers[..<(layers.lastIndex(of: "udp") ?? layers.endIndex)]
      .last { $0 == "ip" || $0 == "ipv6" }
    let isVersion6 = version4.isEmpty || !version6.isEmpty && inmost == "ipv6"
    return UInt16(port).flatMap { Endpoint(host: isVersion6 ? version6 : version4, port: $0) }
  }
}
