import MediaCore
import Simulation
import Testing

@testable import RTP

struct RTPPacketTests {
  private func parse(_ bytes: [UInt8]) -> RTPPacket? {
    guard !bytes.isEmpty else { return nil }
    return RTPPacket(parsing: ByteBuffer(bytes), length: bytes.count)
  }

  private static let header: [UInt8] = [
    0x80, 0x60, 0x12, 0x34, 0, 0, 0, 1, 0xDE, 0xAD, 0xBE, 0xEF,
  ]

  @Test func headerRoundTrips() throws {
    let header = RTPHeader(
      marker: true,
      payloadType: 96,
      sequenceNumber: 65_535,
      timestamp: RTPTimestamp(rawValue: .max),
      ssrc: 0xDEAD_BEEF
    )
    var packet = ByteBuffer(repeating: 7, count: 20)
    header.write(to: &packet)
    let result = RTPPacket(parsing: packet, length: 20)
    let parsed = try #require(result)
    #expect(parsed.header == header)
    #expect(parsed.payloadOffset == 12 && parsed.payloadLength == 8)
  }

  @Test func contributingSourcesExtensionAndPaddingAreSkipped() throws {
    var bytes = Self.header
    bytes[0] = 0xB2  // padding, extension, two contributing sources
    bytes += [UInt8](repeating: 1, count: 8)
    bytes += [0xBE, 0xDE, 0, 1, 9, 9, 9, 9]
    bytes += [1, 2, 3, 0, 0, 3]
    let packet = try #require(parse(bytes))
    #expect(packet.payloadOffset == 28 && packet.payloadLength == 3)
  }

  @Test func emptyPayloadIsLegal() throws {
    #expect(try #require(parse(Self.header)).payloadLength == 0)
  }

  @Test(arguments: 0..<12)
  func shortDatagramIsRefused(length: Int) {
    #expect(parse(Array(Self.header.prefix(length))) == nil)
  }

  @Test func otherVersionsPaddingAndExtensionsThatDoNotFitAreRefused() {
    for (index, byte) in [(0, 0x40), (0, 0x8F), (0, 0x90), (1, 0xC8)] as [(Int, UInt8)] {
      var bytes = Self.header
      bytes[index] = byte
      #expect(parse(bytes) == nil)
    }
    var padded = Self.header + [200]
    padded[0] = 0xA0
    #expect(parse(padded) == nil)
    padded[12] = 0
    #expect(parse(padded) == nil)
  }

  @Test(arguments: UInt64(1)...4)
  func parsersSurviveRandomBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 1...200, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) {
        bytes.replaceSubrange(0..<min(12, bytes.count), with: Self.header.prefix(bytes.count))
        bytes[0] = UInt8.random(in: 0x80...0xBF, using: &random)
      }
      if let packet = parse(bytes) {
        #expect(packet.payloadOffset + packet.payloadLength <= bytes.count)
      }
      if Bool.random(using: &random), bytes.count > 1 {
        bytes[0] = 0x81
        bytes[1] = UInt8.random(in: 200...204, using: &random)
      }
      var reader = RTCPReader()
      let buffer = ByteBuffer(bytes)
      var items = 0
      while reader.next(in: buffer, length: bytes.count) != nil { items += 1 }
      #expect(items <= bytes.count)
    }
  }
}
