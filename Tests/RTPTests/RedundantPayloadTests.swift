import MediaCore
import Simulation
import Testing

@testable import RTP

/// Redundant payloads (RFC 2198).
struct RedundantPayloadTests {
  private func blocks(_ bytes: [UInt8], from start: Int = 0) -> [RedundantBlock]? {
    let datagram = ByteBuffer(bytes)
    guard var payload = RedundantPayload(parsing: datagram, in: start..<bytes.count) else {
      return nil
    }
    var blocks: [RedundantBlock] = []
    while let block = payload.next(in: datagram) { blocks.append(block) }
    return blocks
  }

  @Test func blocksComeOldestFirstWithTheirTimes() {
    var datagram = ByteBuffer(repeating: 9, count: 40)
    RedundantPayload.writeHeader(
      payloadType: 96,
      timestampOffset: 960,
      length: 3,
      to: &datagram,
      at: 12
    )
    RedundantPayload.writeHeader(
      payloadType: 96,
      timestampOffset: 480,
      length: 1_023,
      to: &datagram,
      at: 16
    )
    RedundantPayload.writeHeader(
      payloadType: 5,
      timestampOffset: 16_383,
      length: 2,
      to: &datagram,
      at: 16
    )
    RedundantPayload.writeOwnHeader(payloadType: 96, to: &datagram, at: 20)
    let bytes = (0..<40).map { datagram[$0] }
    let found = blocks(bytes, from: 12)
    #expect(found?.map(\.payloadType) == [96, 5, 96])
    #expect(found?.map(\.timestampOffset) == [960, 16_383, 0])
    #expect(found?.map(\.payloadOffset) == [21, 24, 26])
    #expect(found?.map(\.payloadLength) == [3, 2, 14])
  }

  @Test func ownPayloadAloneMayBeEmpty() {
    #expect(blocks([96])?.map(\.payloadLength) == [0])
  }

  @Test(
    arguments: [
      [], [0x80], [0xE0, 0, 0], [0xE0, 0, 0, 4], [0xE0, 0, 0, 4, 96, 1, 2, 3],
      [UInt8](repeating: 0xFF, count: 1_500),
    ] as [[UInt8]]
  )
  func damagedOnesAreRefused(bytes: [UInt8]) {
    // A buffer has one byte at least.
    #expect(blocks([0] + bytes, from: 1) == nil)
  }

  @Test(arguments: UInt64(1)...4)
  func anyBytesEndWithinThePayload(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 1...80, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      for block in blocks(bytes) ?? [] {
        #expect(block.payloadOffset >= 0 && block.payloadLength >= 0)
        #expect(block.payloadOffset + block.payloadLength <= bytes.count)
      }
    }
  }
}
