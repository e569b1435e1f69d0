import Foundation
import MediaCore
import Testing

@testable import Simulation

/// Queues, outages and new beginnings that look like clocks, jumps and losses.
struct GrowingQueueTests {
  private struct Packet {
    var sequence: Int
    var ticks: Int
    /// Arrival in milliseconds.
    var arrival: Double
  }

  private func streams(
    _ packets: [Packet],
    type: UInt8 = 0,
    describedAs rtpmap: String? = nil
  ) -> [CapturedStream] {
    var scene = CaptureScene()
    if let rtpmap {
      let text =
        "INVITE sip:a@192.0.2.20 SIP/2.0\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n"
        + "c=IN IP4 192.0.2.20\r\nm=audio 30000 RTP/AVP \(type)\r\na=rtpmap:\(type) \(rtpmap)\r\n"
      scene.add(datagram: Array(text.utf8))
    }
    for packet in packets {
      let rtp =
        [0x80, type] + CaptureScene.big(packet.sequence, 2) + CaptureScene.big(packet.ticks, 4)
        + CaptureScene.big(7, 4) + [UInt8](repeating: 0x40, count: 40)
      let frame = CaptureScene.ethernet(CaptureScene.ip(17, CaptureScene.udp(rtp)))
      scene.add(frame: frame, at: Int64((1_000 + packet.arrival) * 1e6))
    }
    return scene.streams()
  }

  /// Packets of 20 ms whose delay grows by `growth` of the time that passes.
  private func growing(_ growth: Double, seconds: Int, ticks: Int) -> [Packet] {
    (0..<seconds * 50).map { index in
      let jitter = Double(index % 3) / 2
      let arrival = Double(20 * index) * (1 + growth) + jitter
      return Packet(sequence: 100 + index, ticks: 1_000 + ticks * index, arrival: arrival)
    }
  }

  /// No crystal is off by a part in a thousand.
  @Test(arguments: [0.005, 0.02, 0.08]) func queueOfAKnownCodecIsNoClock(growth: Double) throws {
    let stream = try #require(streams(growing(growth, seconds: 60, ticks: 160)).first)
    #expect(abs(stream.delay(1) - 60_000 * growth) < 100 && stream.skew == nil)
  }

  /// Opus over a queue that grows by 80 ms a second looks like the clock of a compact disc.
  @Test(arguments: [20, 40]) func queueIsNoOtherClockThanTheDescribed(seconds: Int) throws {
    let packets = growing(0.08, seconds: seconds, ticks: 960)
    let stream = try #require(
      streams(packets, type: 111, describedAs: "opus/48000/2").first
    )
    #expect(stream.format.name == "OPUS" && stream.format.clockRate == 48_000)
    #expect(abs(stream.delay(1) - Double(80 * seconds)) < 100)
  }

  /// A second call of the same source, with a sequence number that happens to be near.
  @Test(arguments: [60, 395, 1_800, 2_900]) func newRandomNumbersAreNoLoss(step: Int) throws {
    var packets = growing(0, seconds: 4, ticks: 160)
    let last = packets[packets.count - 1]
    for index in 0..<200 {
      packets.append(
        Packet(
          sequence: last.sequence + step + index,
          ticks: 3_000_000_000 + 160 * index,
          arrival: last.arrival + (step < 100 ? 20 : 10_000) + Double(20 * index)
        )
      )
    }
    let stream = try #require(streams(packets).first)
    #expect(stream.lost == 0 && stream.restarts == 1)
  }

  /// Packets of a studio, of a millisecond: in five seconds 5,000 of them are lost.
  @Test func outagesOfShortPacketsAreLosses() throws {
    let packets = (0..<60_000).filter { !(20_000..<25_000).contains($0) }.map {
      Packet(sequence: $0 & 65_535, ticks: 48 * $0, arrival: Double($0))
    }
    let stream = try #require(streams(packets, type: 96, describedAs: "L24/48000").first)
    #expect(stream.lost == 5_000 && stream.restarts == 0)
  }

  /// The numbers have wrapped around meanwhile.
  @Test(arguments: [(20.0, 160, 75_000), (5.0, 40, 140_000)])
  func longOutagesAreLosses(milliseconds: Double, ticks: Int, missing: Int) throws {
    let packets = (Array(0..<3_000) + Array(3_000 + missing..<6_000 + missing)).map {
      Packet(sequence: $0 & 65_535, ticks: ticks * $0, arrival: milliseconds * Double($0))
    }
    let stream = try #require(streams(packets).first)
    #expect(stream.lost == missing && stream.restarts == 0)
  }

  /// Timestamps that go on with the numbers have not jumped, however long the new path is.
  @Test(arguments: [600.0, 1_500]) func slowerPathAfterALossIsADelay(extra: Double) throws {
    let packets = growing(0, seconds: 60, ticks: 160).enumerated()
      .filter { !(1_500..<1_550).contains($0.offset) }
      .map { index, packet in
        var packet = packet
        packet.arrival += index < 1_500 ? 0 : extra
        return packet
      }
    let stream = try #require(streams(packets).first)
    #expect(stream.beginnings == 1 && abs(stream.delay(0.95) - extra) < 10)
  }
}
