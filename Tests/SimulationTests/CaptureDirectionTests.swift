import Foundation
import Testing

@testable import Simulation

/// Directions of streams, tags that hide one of them, and descriptions and timestamps that tell
/// nothing.
struct CaptureDirectionTests {
  /// Adds the packets of a stream on Linux's links of any interface, with the kind of each.
  private func add(_ stream: CaptureScene.Stream, _ kinds: [UInt8], to scene: inout CaptureScene) {
    for kind in kinds {
      scene.wrap = {
        [8, 0] + [UInt8](repeating: 0, count: 8) + [kind] + [UInt8](repeating: 0, count: 9) + $0
      }
      scene.add(stream)
    }
  }

  @Test func whatWasReceivedIsTakenHoweverLittle() throws {
    var scene = CaptureScene()
    add(.init(seconds: 60, isOutgoing: true), [4], to: &scene)
    add(.init(ssrc: 8, seconds: 5, jitter: 5), [0], to: &scene)
    let taken = try scene.taken(linkType: 276)
    #expect(taken.ssrc == 8 && taken.isOutgoing == false)
  }

  /// A host that routes to a virtual machine sees each packet come and go.
  @Test func whatPassesThroughHasNoDirection() throws {
    var scene = CaptureScene()
    add(.init(isOutgoing: true), [0, 4], to: &scene)
    add(.init(ssrc: 8, jitter: 5, loss: 0.05), [0, 4, 4], to: &scene)
    #expect(scene.streams(linkType: 276).allSatisfy { $0.isOutgoing == nil })
    #expect(try scene.taken(linkType: 276).ssrc == 8)
  }

  @Test(arguments: [[0x89, 0x09], [0x89, 0x26], [0x88, 0xE7]] as [[UInt8]])
  func tagsThatHideADirectionAreForWireshark(tag: [UInt8]) {
    var scene = CaptureScene()
    scene.add(.init(isOutgoing: true))
    scene.wrap = { [UInt8](repeating: 2, count: 12) + tag + [1, 1, 0, 1, 0, 5, 8, 0] + $0 }
    scene.add(.init(ssrc: 8))
    #expect(scene.capture().holdsMore)
  }

  @Test func namesBehindALengthAreRead() throws {
    var scene = CaptureScene()
    scene.wrap = { packet in
      let rest: [UInt8] = [0xAA, 0xAA, 3, 0, 0, 0, 8, 0] + packet
      return [UInt8](repeating: 2, count: 12) + CaptureScene.big(rest.count, 2) + rest
    }
    scene.add(.init())
    #expect(try scene.taken().received == 1_000)
  }

  private static let offer = """
    INVITE sip:bob@192.0.2.20 SIP/2.0\r
    Content-Type: application/sdp\r
    \r
    v=0\r
    c=IN IP4 192.0.2.20\r
    m=audio 30000 RTP/AVP 111\r
    a=rtpmap:111 opus/
    """

  @Test(arguments: ["4", "48", "480", "4800", "48000", "48000/2\r\n"])
  func descriptionThatIsCutOffTellsNoClock(rest: String) throws {
    var scene = CaptureScene()
    scene.add(datagram: Array((Self.offer + rest).utf8))
    scene.add(.init(payloadType: 111, ticks: 960, jitter: 4))
    let format = try scene.taken().format
    #expect(format.clockRate == 48_000)
    #expect((format.origin == .description) == rest.hasPrefix("48000"))
  }

  @Test func timestampsThatMeanNothingTellNoDelays() throws {
    var scene = CaptureScene()
    scene.add(.init(ticks: 7_654_321, jitter: 4))
    let stream = try #require(scene.streams().first)
    #expect(!stream.hasDelays && stream.summary.contains("not known"))
  }

  @Test func chartsShowTheLatestPackets() throws {
    var scene = CaptureScene()
    scene.add(.init(seconds: 200, stalls: [5_001..<5_030]))
    let stream = try scene.taken()
    #expect(stream.delay(1) > 500)
    #expect(stream.moments(most: 100).map(\.delay).max() == stream.delay(1))
  }

  @Test func streamsAreNamedByDecimalNumbersToo() throws {
    var scene = CaptureScene()
    scene.add(.init(ssrc: 4_000_000_001))
    scene.add(.init(ssrc: 9, isOutgoing: true))
    let streams = scene.streams()
    #expect(try PacketCapture.choose(among: streams, named: "4000000001").ssrc == 4_000_000_001)
    #expect(try PacketCapture.choose(among: streams, named: "2").number == 2)
  }

  /// The recorder's clock is 100 ppm faster than the sender's.
  @Test func clocksOfTextTracesMayDiffer() throws {
    let lines = (0..<30_000).map { index in
      let sent = Double(20 * index)
      return "\(sent) \(sent * 1.000_1 + Double(index % 5))"
    }
    let trace = try NetworkTrace(parsing: lines.joined(separator: "\n"))
    let worst = trace.packets.compactMap(\.delay).max() ?? 0
    #expect(worst < 6_000_000)
  }
}
