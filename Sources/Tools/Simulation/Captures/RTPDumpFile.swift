/// A file of rtpdump (rtptools, `rtpdump.h`), as a value without I/O.
///
/// It has a line of text with the receiver's address, a header with the start time and the sender's
/// address, and the packets, with times in whole milliseconds.
struct RTPDumpFile {
  private static let mark = Array("#!rtpplay1.0 ".utf8)
  private let bytes: [UInt8]

  /// Creates a file from its bytes; nil if they do not begin like one.
  init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: Self.mark) else { return nil }
    self.bytes = bytes
  }

  /// Adds the packets to a capture, up to the first with an invalid length.
  func add(to capture: inout PacketCapture) {
    guard let end = bytes.firstIndex(of: 10), end + 17 <= bytes.count else { return }
    let line = String(decoding: bytes[Self.mark.count..<end], as: UTF8.self)
    let parts = line.split(separator: "/")
    let head = end + 1
    guard parts.count == 2, let port = UInt16(parts[1].filter(\.isNumber)),
      let destination = Endpoint(host: parts[0], port: port)
    else { return }
    let source = Endpoint(
      address: Array(bytes[head + 8..<head + 12]),
      port: UInt16(number(at: head + 12, of: 2))
    )
    let begin = Int64(number(at: head, of: 4)) * 1_000 + Int64(number(at: head + 4, of: 4) / 1_000)
    var place = head + 16
    while place + 8 <= bytes.count {
      let length = number(at: place, of: 2)
      guard length > 8, place + length <= bytes.count else {
        capture.isCutOff = true
        return
      }
      // RTCP has no length of its own there.
      let whole = number(at: place + 2, of: 2)
      let payload = bytes[place + 8..<place + length]
      capture.add(
        CapturedDatagram(
          source: source,
          destination: destination,
          payload: payload,
          length: max(whole, payload.count)
        ),
        at: (begin + Int64(number(at: place + 4, of: 4))) * 1_000_000
      )
      place += length
    }
  }

  private func number(at place: Int, of count: Int) -> Int {
    bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
  }
}
