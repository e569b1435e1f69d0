import MediaCore
import Testing

@testable import Simulation

/// Frames of headers in headers, in any order and with any optional fields, as a damaged file or a
/// short snapshot length leaves them.
@Suite struct CutFrameTests {
  private var random: SeededGenerator

  init() { random = SeededGenerator(seed: 11) }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  private mutating func one<Value>(of values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  // The protocol after a header, by its Ethernet number.
  private mutating func type() -> [UInt8] {
    one(of: [
      [8, 0], [0x86, 0xDD], [0x81, 0], [0x88, 0xA8], [0x89, 0x2F], [0x88, 0x64], [0x88, 0x47],
      [0, 40], [5, 220], [0x65, 0x58], [0x88, 0xBE], [0x22, 0xEB],
    ])
  }

  // What follows the headers of IP: extensions, tunnels, TCP, UDP.
  private mutating func kind() -> UInt8 {
    one(of: [0, 43, 44, 60, 4, 41, 47, 6, 17])
  }

  private mutating func header() -> [UInt8] {
    switch Int.random(in: 0..<9, using: &random) {
    case 0: return bytes(12) + type()
    case 1: return bytes(2) + type()
    case 2:
      let words = UInt8.random(in: 4...15, using: &random)
      return [0x40 | words] + bytes(5) + [0, 0] + bytes(1) + [kind()] + bytes(4 * Int(words) - 10)
    case 3: return [0x60] + bytes(5) + [kind()] + bytes(33)
    case 4: return [kind(), UInt8.random(in: 0...3, using: &random), 0, 0] + bytes(4)
    // GRE, with each of its optional words.
    case 5: return bytes(1) + [0] + type()
    case 6: return [0xAA, 0xAA, 3, 0, 0, 0] + type()
    case 7:
      let port = one(of: [4_789, 8_472, 37_008, 30_000])
      return bytes(2) + CaptureScene.big(port, 2) + bytes(1) + [40, 0, 0]
    default: return [1, 0, 0, 1, 0, 2] + bytes(2) + [1] + bytes(4)
    }
  }

  private mutating func link(_ type: Int) -> [UInt8] {
    switch type {
    case 0, 108: bytes(4)
    case 1: bytes(12) + self.type()
    case 9: [0xFF, 3, 0, 0x21]
    case 113: bytes(14) + self.type()
    case 276: self.type() + bytes(18)
    default: []
    }
  }

  @Test(arguments: [0, 1, 9, 12, 14, 101, 108, 113, 228, 229, 276])
  func headersEndAnywhere(linkType: Int) {
    var test = self
    var longest = 0
    for _ in 0..<1_500 {
      var frame = test.link(linkType)
      for _ in 0..<Int.random(in: 1...6, using: &test.random) { frame += test.header() }
      for count in 0...frame.count {
        let content = CapturedFrame(bytes: Array(frame.prefix(count)), linkType: linkType).content
        guard case .datagram(let datagram) = content else { continue }
        longest = max(longest, datagram.unwrapped.payload.count)
      }
    }
    #expect(longest > 0)
  }
}
