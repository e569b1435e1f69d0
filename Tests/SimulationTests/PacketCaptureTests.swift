import MediaCore
import RTP
import Testing

@testable import Simulation

/// Captures of a receiving machine's network.
struct PacketCaptureTests {
  /// An RTP packet of 20 ms of Opus in UDP, in IP, on a link.
  private static func frame(
    _ number: Int,
    ssrc: UInt32 = 7,
    linkType: Int = 1,
    version: Int = 4
  ) -> [UInt8] {
    var packet = ByteBuffer(repeating: 0, count: 40)
    RTPHeader(
      marker: false,
      payloadType: 96,
      // Both wrap on the way.
      sequenceNumber: UInt16(truncatingIfNeeded: 65_500 + number),
      timestamp: RTPTimestamp(rawValue: 0xFFFF_0000 &+ UInt32(number * 960)),
      ssrc: ssrc
    ).write(to: &packet)
    let payload = (0..<40).map { packet[$0] }
    let udp: [UInt8] = [0x10, 0, 0x20, 0, 0, 48, 0, 0] + payload
    let ip: [UInt8] =
      version == 4
      ? [0x45, 0, 0, 68, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]
      : [0x60, 0, 0, 0, 0, 48, 17, 64] + [UInt8](repeating: 1, count: 32)
    let kind: [UInt8] = version == 4 ? [0x08, 0x00] : [0x86, 0xDD]
    let addresses = [UInt8](repeating: 2, count: 12)
    switch linkType {
    case 1: return addresses + kind + ip + udp
    case 113: return [UInt8](repeating: 0, count: 14) + kind + ip + udp
    default: return ip + udp
    }
  }

  @Test(arguments: [(1, 4), (1, 6), (113, 4), (101, 6)])
  func delaysAndLossesAreThoseOfTheNetwork(linkType: Int, version: Int) throws {
    var capture = PacketCapture()
    for number in 0..<200 where number % 10 != 7 {
      // Packet 20 comes 30 ms later than the others, packet 0 comes twice.
      let arrival = 5_000 + number * 20 + (number == 20 ? 30 : 0)
      let bytes = Self.frame(number, linkType: linkType, version: version)
      capture.add(frame: bytes, linkType: linkType, at: Int64(arrival) * 1_000_000)
      if number == 0 { capture.add(frame: bytes, linkType: linkType, at: 5_001_000_000) }
    }
    // Another call, and no call at all.
    for number in 0..<50 {
      let bytes = Self.frame(number, ssrc: 9, linkType: linkType, version: version)
      capture.add(frame: bytes, linkType: linkType, at: Int64(number))
      capture.add(frame: [UInt8](bytes.prefix(number)), linkType: linkType, at: Int64(number))
    }
    let packets = try PacketCapture.choose(among: capture.streams(), named: nil).trace().packets
    #expect(packets.count == 200)
    for (number, packet) in packets.enumerated() {
      #expect(abs(packet.departure - Int64(number) * 20_000_000) < 1_000)
      guard number % 10 != 7 else {
        #expect(packet.delay == nil)
        continue
      }
      let delay = try #require(packet.delay)
      #expect(abs(delay - (number == 20 ? 30_000_000 : 0)) < 1_000)
    }
  }

  @Test func captureWithoutRTPIsEmpty() {
    var capture = PacketCapture()
    var random = SeededGenerator(seed: 4)
    for length in 0..<2_000 {
      let bytes = (0..<length % 120).map { _ in UInt8.random(in: 0...255, using: &random) }
      capture.add(frame: bytes, linkType: [0, 1, 12, 101, 113, 276, 9][length % 7], at: 0)
    }
    #expect(throws: PacketCapture.ChoiceError.self) {
      try PacketCapture.choose(among: capture.streams(), named: nil)
    }
  }
}
