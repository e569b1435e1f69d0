import Testing

@testable import Simulation

/// Captures in which packets say only that the sender is there, or what the rest is.
struct CaptureKeepAliveTests {
  private static let far = Endpoint(address: [192, 0, 2, 10], port: 40_000)
  private static let own = Endpoint(address: [192, 0, 2, 20], port: 30_000)

  private static func rtp(_ type: UInt8, _ number: Int, _ time: Int, bytes: Int) -> [UInt8] {
    [0x80, type] + CaptureScene.big(number, 2) + CaptureScene.big(time, 4) + [0, 0, 0, 7]
      + [UInt8](repeating: 0x40, count: bytes)
  }

  /// A hold of 40 s in which comfort noise (type 13) or an empty packet repeats the last timestamp
  /// each `pause` seconds; then the voice goes on in time.
  @Test(arguments: [0.3, 3, 5, 10, 39], [(UInt8(13), 1), (0, 0)])
  func keepAlivesOfAHoldTellNoDelay(pause: Double, kind: (type: UInt8, bytes: Int)) throws {
    var capture = PacketCapture()
    var number = 0
    func add(_ type: UInt8, at seconds: Double, time: Int, bytes: Int) {
      let payload = Self.rtp(type, number, time, bytes: bytes)
      number += 1
      let datagram = CapturedDatagram(
        source: Self.far,
        destination: Self.own,
        payload: payload[...],
        length: payload.count
      )
      let jitter = Double(number % 3) / 1_000
      capture.add(datagram, at: 1_000_000_000 + Int64((seconds + jitter) * 1e9))
    }
    for packet in 0..<1_500 {
      add(0, at: Double(packet) / 50, time: 160 * packet, bytes: 160)
    }
    for second in stride(from: 30 + pause, to: 69.9, by: pause) {
      add(kind.type, at: second, time: 160 * 1_499, bytes: kind.bytes)
    }
    for packet in 3_500..<5_000 {
      add(0, at: Double(packet) / 50, time: 160 * packet, bytes: 160)
    }
    let stream = try PacketCapture.choose(among: capture.streams(), named: nil)
    #expect(stream.delay(1) < 5 && stream.jitter.most < 5 && stream.lost == 0)
  }

  /// A minute of voice that arrives `times` as fast as it was said.
  private func replayed(_ times: Double) -> PacketCapture {
    var capture = PacketCapture()
    for packet in 0..<3_000 {
      let payload = Self.rtp(0, packet, 160 * packet, bytes: 160)
      let datagram = CapturedDatagram(
        source: Self.far,
        destination: Self.own,
        payload: payload[...],
        length: payload.count
      )
      capture.add(datagram, at: 1_000_000_000 + Int64(Double(packet) * 20_000_000 / times))
    }
    return capture
  }

  /// Replays at another speed, and conversions without times, measure no network.
  @Test(arguments: [10.0, 500, 20_000]) func hurriedPacketsTellNoDelay(times: Double) throws {
    let stream = try #require(replayed(times).streams().first)
    #expect(!stream.hasDelays && stream.summary.contains("not known"), "\(stream.summary)")
    let inTime = try #require(replayed(1).streams().first)
    #expect(inTime.hasDelays)
  }

  /// The timestamps stand still in a hold, after which one side soon hangs up: nothing has queued.
  @Test(arguments: [3.0, 20]) func holdBeforeTheEndIsNoDelay(hold: Double) throws {
    var capture = PacketCapture()
    for packet in 0..<3_075 {
      let payload = Self.rtp(0, packet, 160 * packet, bytes: 160)
      let datagram = CapturedDatagram(
        source: Self.far,
        destination: Self.own,
        payload: payload[...],
        length: payload.count
      )
      let seconds = Double(packet) / 50 + (packet < 3_000 ? 0 : hold) + Double(packet % 3) / 1_000
      capture.add(datagram, at: 1_000_000_000 + Int64(seconds * 1e9))
    }
    let stream = try PacketCapture.choose(among: capture.streams(), named: nil)
    #expect(stream.delay(1) < 5 && stream.beginnings == 2)
  }

  /// A description in a TCP connection, as tshark prints its packets.
  @Test func descriptionsInLinesOfTsharkAreRead() {
    func hex(_ bytes: [UInt8]) -> String {
      bytes.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    }
    let text =
      "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/TCP x\r\nContent-Type: application/sdp\r\n\r\n"
      + "v=0\r\nc=IN IP4 192.0.2.20\r\nm=audio 30000 RTP/AVP 97\r\na=rtpmap:97 AMR-WB/16000\r\n"
    var capture = PacketCapture()
    let parts = ["1.5", "192.0.2.10", "192.0.2.20"] + [String](repeating: "", count: 7)
    let fields = parts + ["eth:ethertype:ip:tcp:sip:sdp", "", hex(Array(text.utf8))]
    capture.add(line: fields.joined(separator: "\t")[...])
    for number in 0..<100 {
      let bytes = Self.rtp(97, number, 320 * number, bytes: 60)
      let time = "\(2 + number / 50).\(String(1_000 + 20 * (number % 50)).dropFirst())"
      let fields = [
        time, "192.0.2.10", "192.0.2.20", "", "", "40000", "30000", "\(bytes.count + 8)", "",
        hex(bytes), "eth:ethertype:ip:udp:rtp", "", "",
      ]
      capture.add(line: fields.joined(separator: "\t")[...])
    }
    #expect(capture.streams().first?.format.name == "AMR-WB")
  }
}
