import ProgramRig
import MediaCore

/// Random and mutated datagrams: noise, damaged RTP and RTCP, damaged SIP.
enum HostileDatagrams {
  private static let templates: [[UInt8]] = [
    [0x80, 0x60, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 0xFC, 0xFF, 0xFE],
    [0x81, 0xC8, 0, 12, 1, 2, 3, 4] + [UInt8](repeating: 9, count: 44),
    [0x81, 0xCB, 0, 1, 1, 2, 3, 4],
    Array(
      [
        "INVITE sip:bob@127.0.0.1 SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKx",
        "From: <sip:a@b>;tag=1", "To: <sip:bob@127.0.0.1>", "Call-ID: x", "CSeq: 1 INVITE",
        "Contact: <sip:a@127.0.0.1:9>", "Max-Forwards: 70", "Content-Type: application/sdp",
        "Content-Length: 5", "", "v=0", "",
      ].joined(separator: "\r\n").utf8
    ),
    Array("BYE sip:bob@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 1:9\r\n\r\n".utf8),
    Array("SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP 127.0.0.1:5060\r\nCSeq: 1 INVITE\r\n\r\n".utf8),
  ]

  /// Sends `count` of them to the given ports of this machine and returns how many left.
  static func send(
    _ count: Int,
    to ports: [UInt16],
    from descriptor: Int32,
    seed: UInt64
  ) -> Int {
    var random = SeededGenerator(seed: seed)
    var sent = 0
    for _ in 0..<count {
      var bytes = templates.randomElement(using: &random) ?? []
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        bytes = (0..<Int.random(in: 0...1_400, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
      case 1:
        for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] =
            UInt8.random(in: 0...255, using: &random)
        }
      default:
        bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
      }
      let port = ports.randomElement(using: &random) ?? 9
      if LoopbackSocket.send(bytes, to: port, from: descriptor) { sent += 1 }
    }
    return sent
  }
}
