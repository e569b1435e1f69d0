import Foundation
import MediaCore

@testable import Simulation

/// Writes the frames of a capture, byte by byte.
struct CaptureScene {
  /// One stream: packets with exponentially distributed delays of mean `jitter`, some of them lost.
  struct Stream {
    var payloadType: UInt8 = 0
    var ticks = 160
    var milliseconds = 20.0
    var ssrc: UInt32 = 7
    var seconds = 20.0
    var jitter = 0.0
    var loss = 0.0
    /// Drift of the sender's clock, in parts per million.
    var drift = 0.0
    /// Packet from which on timestamps are shifted, and the shift in ticks.
    var jump: (packet: Int, ticks: Int)?
    /// True if there are DTMF digits of 0.2 s, one each second.
    var hasKeys = false
    /// Packets that are held back, and come together when the last of them is sent.
    var stalls: [Range<Int>] = []
    /// Packets that wait in a standing queue, and its delay in milliseconds.
    var queue: (packets: Range<Int>, milliseconds: Double) = (0..<0, 0)
    var isOutgoing = false
    var payloadLength = 40
    var begin = 1_000.0
  }

  private(set) var frames: [(bytes: [UInt8], at: Int64)] = []
  private static let (far, own): ([UInt8], [UInt8]) = ([192, 0, 2, 10], [192, 0, 2, 20])
  /// Adds a link layer's headers to an IP packet.
  var wrap: ([UInt8]) -> [UInt8] = { CaptureScene.ethernet($0) }

  static func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }

  static func ethernet(_ packet: [UInt8], tags: [UInt8] = []) -> [UInt8] {
    let type: [UInt8] = packet[0] >> 4 == 4 ? [8, 0] : [0x86, 0xDD]
    return [UInt8](repeating: 2, count: 12) + tags + type + packet
  }

  static func ip(_ kind: UInt8, _ payload: [UInt8], isOutgoing: Bool = false) -> [UInt8] {
    let (from, to) = isOutgoing ? (own, far) : (far, own)
    return [0x45, 0] + big(20 + payload.count, 2) + [0, 0, 0x40, 0, 64, kind, 0, 0] + from + to
      + payload
  }

  static func udp(_ payload: [UInt8], from: Int = 40_000, to: Int = 30_000) -> [UInt8] {
    big(from, 2) + big(to, 2) + big(8 + payload.count, 2) + [0, 0] + payload
  }

  mutating func add(_ stream: Stream, seed: UInt64 = 3) {
    var random = SeededGenerator(seed: seed)
    var shift = 0
    for number in 0..<Int(stream.seconds * 1_000 / stream.milliseconds) {
      let sent = Double(number) * stream.milliseconds * (1 - stream.drift / 1e6)
      if let jump = stream.jump, jump.packet == number { shift = jump.ticks }
      let second = Double(number) * stream.milliseconds / 1_000
      let isKey = stream.hasKeys && second.truncatingRemainder(dividingBy: 1) >= 0.8
      let place = isKey ? Int((second.rounded(.down) + 0.8) * 1_000 / stream.milliseconds) : number
      var arrival = sent - stream.jitter * log(Double.random(in: 1e-9...1, using: &random))
      if stream.queue.packets.contains(number) { arrival += stream.queue.milliseconds }
      if let stall = stream.stalls.first(where: { $0.contains(number) }) {
        arrival = max(
          arrival,
          Double(stall.upperBound) * stream.milliseconds + Double(number) / 1e3
        )
      }
      let isLost = Double.random(in: 0...1, using: &random) < stream.loss
      guard !isLost else { continue }
      let body: [UInt8] =
        isKey ? [5, 10, 0, 160] : [UInt8](repeating: 0x40, count: stream.payloadLength)
      let rtp =
        [0x80, isKey ? 101 : stream.payloadType] + Self.big(100 + number, 2)
        + Self.big(1_000 + place * stream.ticks + shift, 4) + Self.big(Int(stream.ssrc), 4) + body
      let udp =
        stream.isOutgoing ? Self.udp(rtp, from: 30_000, to: 40_000) : Self.udp(rtp)
      let packet = Self.ip(17, udp, isOutgoing: stream.isOutgoing)
      frames.append((wrap(packet), Int64((stream.begin + arrival) * 1e6)))
    }
  }

  mutating func add(frame bytes: [UInt8], at nanoseconds: Int64) {
    frames.append((bytes, nanoseconds))
  }

  mutating func add(datagram payload: [UInt8]) {
    frames.append((wrap(Self.ip(17, Self.udp(payload, from: 5_060, to: 5_060))), 1))
  }

  /// Streams found in a capture of these frames, which are read in order of time.
  func streams(linkType: Int = 1, clockRate: Int? = nil, keeping bytes: Int = .max)
    -> [CapturedStream]
  {
    capture(linkType: linkType, keeping: bytes).streams(clockRate: clockRate)
  }

  func capture(linkType: Int = 1, keeping bytes: Int = .max) -> PacketCapture {
    var capture = PacketCapture()
    for (frame, time) in frames.sorted(by: { $0.at < $1.at }) {
      capture.add(frame: Array(frame.prefix(bytes)), linkType: linkType, at: time)
    }
    return capture
  }

  /// Stream that is chosen from a capture of these frames; throws if the choice is not clear.
  func taken(linkType: Int = 1) throws -> CapturedStream {
    try PacketCapture.choose(among: streams(linkType: linkType), named: nil)
  }
}
