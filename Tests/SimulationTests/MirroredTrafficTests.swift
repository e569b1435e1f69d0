import Foundation
import Testing

@testable import Simulation

/// Traffic that a switch, an access point or a host mirrors, and directions that a file names.
struct MirroredTrafficTests {
  private static func tunnelled(_ kind: String, _ packet: [UInt8]) -> [UInt8] {
    let inner = CaptureScene.ethernet(packet)
    let big = CaptureScene.big
    switch kind {
    case "ERSPAN I": return CaptureScene.ip(47, [0, 0, 0x88, 0xBE] + inner)
    case "ERSPAN II":
      return CaptureScene.ip(
        47,
        [0x10, 0, 0x88, 0xBE] + big(9, 4) + [0x10, 1, 0, 1, 0, 0, 0, 2] + inner
      )
    case "ERSPAN III":
      let header: [UInt8] = [0x20, 1, 0, 1, 0, 0, 0, 5, 0, 0, 0, 0]
      return CaptureScene.ip(47, [0x10, 0, 0x22, 0xEB] + big(9, 4) + header + inner)
    case "TZSP":
      // Padding, a signal strength, the end of the fields.
      let header: [UInt8] = [1, 0, 0, 1, 0, 10, 1, 200, 1]
      return CaptureScene.ip(17, CaptureScene.udp(header + inner, from: 5_000, to: 37_008))
    default:
      let header: [UInt8] = [8, 0, 0, 0, 0, 0, 7, 0]
      return CaptureScene.ip(17, CaptureScene.udp(header + inner, from: 5_000, to: 8_472))
    }
  }

  @Test(arguments: ["ERSPAN I", "ERSPAN II", "ERSPAN III", "TZSP", "VXLAN"])
  func mirroredCallsAreRead(kind: String) throws {
    var scene = CaptureScene()
    scene.wrap = { CaptureScene.ethernet(Self.tunnelled(kind, $0)) }
    scene.add(.init(loss: 0.05))
    let stream = try scene.taken()
    #expect(stream.source.description == "192.0.2.10:40000" && stream.lost > 20)
  }

  /// Each frame is captured on both ways of a ring.
  @Test func ringsAreRead() throws {
    var scene = CaptureScene()
    scene.wrap = { packet in
      [UInt8](repeating: 2, count: 12) + [0x89, 0x2F, 0, 60, 0, 1, 8, 0] + packet
    }
    scene.add(.init())
    #expect(try scene.taken().received == 1_000)
  }

  /// A file of pcapng with a packet of each direction, one without flags, and other blocks between.
  private static func file(isBig: Bool, hasFlags: Bool) -> [UInt8] {
    func number(_ value: UInt32, _ count: Int = 4) -> [UInt8] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
      return isBig ? bytes.reversed() : bytes
    }
    func block(_ kind: UInt32, _ body: [UInt8]) -> [UInt8] {
      let length = number(UInt32(body.count + 12))
      return number(kind) + length + body + length
    }
    func packet(_ flags: UInt32?) -> [UInt8] {
      let comment = number(1, 2) + number(3, 2) + [65, 66, 67, 0]
      let option = flags.map { number(2, 2) + number(4, 2) + number($0) } ?? []
      let data: [UInt8] = [1, 2, 3, 4, 5, 0, 0, 0]
      let fixed = number(0) + number(0) + number(0) + number(5) + number(5)
      return block(6, fixed + data + comment + option + number(0))
    }
    let section =
      number(0x1A2B_3C4D) + number(1, 2) + number(0, 2) + [UInt8](repeating: 255, count: 8)
    return block(0x0A0D_0D0A, section) + block(1, number(1, 2) + number(0, 2) + number(0))
      + packet(hasFlags ? 1 : nil) + block(5, number(0) + number(0) + number(0))
      + packet(hasFlags ? 2 : nil) + packet(nil)
  }

  @Test(arguments: [false, true]) func flagsOfPacketsTellDirections(isBig: Bool) throws {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("directions-\(UUID().uuidString).pcapng")
    defer { try? FileManager.default.removeItem(at: path) }
    let whole = Self.file(isBig: isBig, hasFlags: true)
    try Data(whole).write(to: path)
    #expect(PacketDirections(ofFileAt: path.path).areOutgoing == [false, true, nil])
    try Data(Self.file(isBig: isBig, hasFlags: false)).write(to: path)
    #expect(PacketDirections(ofFileAt: path.path).areOutgoing == [])
    // Damaged files end early.
    for length in 0..<whole.count {
      try Data(whole[..<length]).write(to: path)
      #expect(PacketDirections(ofFileAt: path.path).areOutgoing.count <= 3)
    }
    #expect(PacketDirections(ofFileAt: "/nonexistent").areOutgoing == [])
  }
}
