import MediaCore
import Testing

@testable import Simulation

/// Contents of ordinary captures, and their effects on the figures.
struct CapturedStreamTests {
  private typealias Stream = CaptureScene.Stream

  private func scene(_ streams: Stream...) -> CaptureScene {
    var scene = CaptureScene()
    for (index, stream) in streams.enumerated() { scene.add(stream, seed: UInt64(index + 3)) }
    return scene
  }

  @Test func lossJitterAndDelayAreMeasured() throws {
    let stream = try scene(Stream(jitter: 5, loss: 0.05)).taken()
    #expect(stream.received + stream.lost >= 998 && stream.lost > 20)
    #expect(stream.bursts.reduce(0) { $0 + $1.key * $1.value } == stream.lost)
    #expect(abs(stream.jitter.mean - 5) < 1.5 && stream.jitter.most < 15)
    #expect((10...30).contains(stream.delay(0.95)) && stream.delay(0) == 0)
    #expect(stream.format == MediaFormat(name: "PCMU", clockRate: 8_000, origin: .payloadType))
    #expect("\(stream.source) \(stream.destination)" == "192.0.2.10:40000 192.0.2.20:30000")
  }

  /// Payload type, ticks a packet of 20 ms, and the clock that follows.
  @Test(arguments: [
    (UInt8(97), 320, 16_000), (110, 160, 8_000), (111, 960, 48_000), (120, 640, 32_000),
    (99, 1_800, 90_000), (10, 882, 44_100), (9, 160, 8_000),
  ])
  func clocksAreFoundOut(payloadType: UInt8, ticks: Int, clock: Int) throws {
    let scene = scene(Stream(payloadType: payloadType, ticks: ticks, jitter: 0.5))
    let stream = try scene.taken()
    #expect(stream.format.clockRate == clock)
    #expect(stream.delay(0.95) < 3)
    #expect(stream.format.origin == (payloadType < 35 ? .payloadType : .measured))
    guard payloadType > 95 else { return }
    let told = scene.streams(clockRate: 12_345)
    #expect(told[0].format.clockRate == 12_345 && told[0].format.origin == .user)
  }

  @Test func aDescriptionInTheCaptureNamesTheCodec() throws {
    var scene = scene(Stream(payloadType: 97, ticks: 320))
    let text =
      "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP x\r\nContent-Type: application/sdp\r\n\r\n"
      + "v=0\r\no=- 1 1 IN IP4 192.0.2.20\r\nm=audio 30000 RTP/AVP 97\r\n"
      + "a=rtpmap:97 AMR-WB/16000\r\n"
    scene.add(datagram: Array(text.utf8))
    let format = try scene.taken().format
    #expect(format.name == "AMR-WB" && format.clockRate == 16_000)
    #expect(format.origin == .description && format.isDescribedAsAudio && !format.isVideo)
  }

  /// All packets of a DTMF digit have the timestamp of its beginning.
  @Test func keysAreNoMedia() throws {
    let stream = try scene(Stream(jitter: 0.5, hasKeys: true)).taken()
    #expect(stream.keys > 150 && stream.lost == 0 && stream.delay(1) < 10)
  }

  @Test(arguments: [1_234_567_890, -1_234_567_890, 240_000, -24_000])
  func aJumpOfTheTimestampsIsAnotherBeginning(ticks: Int) throws {
    let stream = try scene(Stream(jitter: 0.5, jump: (500, ticks))).taken()
    #expect(stream.delay(1) < 10 && stream.lost == 0 && stream.beginnings == 2)
    let trace = try stream.trace().packets
    #expect(trace.allSatisfy { ($0.delay ?? 0) < 10_000_000 })
  }

  @Test(arguments: [100.0, -200])
  func aClockThatIsFastOrSlowIsNoDelay(drift: Double) throws {
    let stream = try scene(Stream(seconds: 300, jitter: 0.5, drift: drift)).taken()
    let skew = try #require(stream.skew)
    #expect(abs(skew - drift) < 3 && stream.delay(0.99) < 5)
    let steady = try scene(Stream(seconds: 300, jitter: 0.5)).taken()
    #expect(abs(steady.skew ?? 99) < 3)
  }

  /// Packets within tags and tunnels of networks, whole and cut off after the headers.
  @Test(arguments: 0..<9, [Int.max, 130])
  func whatIsAroundAPacketIsTakenOff(kind: Int, keeping bytes: Int) {
    let plain = scene(Stream(jitter: 5, loss: 0.05)).streams()[0]
    var scene = CaptureScene()
    var linkType = 1
    let ethernet: @Sendable ([UInt8]) -> [UInt8] = { CaptureScene.ethernet($0) }
    switch kind {
    case 0: scene.wrap = { CaptureScene.ethernet($0, tags: [0x91, 0, 0, 200, 0x81, 0, 0, 100]) }
    case 1: scene.wrap = { CaptureScene.ethernet($0, tags: [0x88, 0xA8, 0, 200, 0x81, 0, 0, 1]) }
    case 2:
      let addresses = [UInt8](repeating: 2, count: 12)
      scene.wrap = {
        addresses + [0x88, 0x64, 0x11, 0, 0, 7] + CaptureScene.big($0.count + 2, 2) + [0, 0x21] + $0
      }
    case 3:
      scene.wrap = { ethernet(CaptureScene.ip(47, [0, 0, 8, 0] + $0)) }
    case 4:
      scene.wrap = {
        let inner = [8, 0, 0, 0, 0, 0, 42, 0] + ethernet($0)
        return ethernet(CaptureScene.ip(17, CaptureScene.udp(inner, from: 50_000, to: 4_789)))
      }
    case 5:
      scene.wrap = { [UInt8](repeating: 2, count: 12) + [0x88, 0x47, 0, 6, 0x41, 64] + $0 }
    case 6:
      linkType = 113
      scene.wrap = { [0, 0] + [UInt8](repeating: 0, count: 12) + [0x81, 0, 0, 100, 8, 0] + $0 }
    case 7:
      linkType = 276
      scene.wrap = { [8, 0] + [UInt8](repeating: 0, count: 18) + $0 }
    default:
      linkType = 228
      scene.wrap = { $0 }
    }
    scene.add(Stream(jitter: 5, loss: 0.05))
    let found = scene.streams(linkType: linkType, keeping: bytes)
    #expect(found.count == 1 && found[0].lost == plain.lost)
    #expect(found[0].jitter.mean == plain.jitter.mean && found[0].source == plain.source)
  }

  @Test func partsOfPacketsAreNamed() {
    var capture = PacketCapture()
    var fragment = CaptureScene.ip(17, [UInt8](repeating: 0, count: 40))
    fragment[6] = 0x20
    capture.add(frame: CaptureScene.ethernet(fragment), linkType: 1, at: 1)
    capture.add(frame: [1, 2, 3], linkType: 105, at: 1)
    #expect(capture.obstacles.count == 2)
  }

  // MARK: Which stream is taken

  @Test(arguments: [0.05, 0]) func ofTwoDirectionsTheReceivedOneIsTaken(loss: Double) throws {
    let incoming = Stream(jitter: 5, loss: loss)
    let outgoing = Stream(ssrc: 9, isOutgoing: true, begin: 980)
    for scene in [scene(incoming, outgoing), scene(outgoing, incoming)] {
      #expect(try scene.taken().ssrc == 7)
    }
  }

  /// In Linux's captures of any interface the type of each packet shows its direction.
  @Test func whatTheMachineSentIsNotTaken() throws {
    var scene = CaptureScene()
    let head = [UInt8](repeating: 0, count: 12) + [8, 0]
    scene.wrap = { [0, $0[12...15].elementsEqual([192, 0, 2, 20]) ? 4 : 0] + head + $0 }
    scene.add(Stream(jitter: 0.1))
    scene.add(Stream(ssrc: 9, jitter: 9, isOutgoing: true))
    let taken = try scene.taken(linkType: 113)
    #expect(taken.ssrc == 7 && taken.isOutgoing == false)
  }

  @Test func picturesAreNoVoice() throws {
    let video = Stream(
      payloadType: 96,
      ticks: 300,
      milliseconds: 10.0 / 3,
      ssrc: 5,
      jitter: 0.2,
      payloadLength: 900
    )
    let voice = Stream(payloadType: 111, ticks: 960, jitter: 0.5)
    #expect(try scene(video, voice).taken().ssrc == 7)
    #expect(try scene(video).taken().ssrc == 5, "there is nothing else")
  }

  @Test func whatMayBeMeantIsListed() throws {
    let scene = scene(Stream(jitter: 5), Stream(ssrc: 8, jitter: 5))
    let streams = scene.streams()
    #expect(throws: PacketCapture.ChoiceError.ambiguous(streams.map(\.summary))) {
      try PacketCapture.choose(among: streams, named: nil)
    }
    let number = streams.first { $0.ssrc == 8 }.map { "\($0.number)" } ?? ""
    for name in [number, "0x00000008", "0X8"] {
      #expect(try PacketCapture.choose(among: streams, named: name).ssrc == 8)
    }
    for name in ["3", "0x9", "8x", ""] {
      #expect(throws: PacketCapture.ChoiceError.self) {
        try PacketCapture.choose(among: streams, named: name)
      }
    }
    #expect(throws: PacketCapture.ChoiceError.noStream([])) {
      try PacketCapture.choose(among: [], named: nil)
    }
  }

  // MARK: By way of tshark

  @Test func linesOfTsharkAreTheSame() {
    let plain = scene(Stream(jitter: 5, loss: 0.05))
    var capture = PacketCapture()
    for (frame, time) in plain.frames.sorted(by: { $0.at < $1.at }) {
      let payload = frame[42...].map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
      let fraction = String(time % 1_000_000_000 + 1_000_000_000).dropFirst()
      let fields = [
        "\(time / 1_000_000_000).\(fraction)", "192.0.2.10", "192.0.2.20", "", "", "40000",
        "30000", "\(frame.count - 34)", "", payload, "eth:ethertype:ip:udp:data", "", "",
      ]
      capture.add(line: fields.joined(separator: "\t")[...])
    }
    for line in ["", "a\tb", "1\t1.2.3\t4.5.6.7\t\t\t1\t2\t9\t\tzz\tip:udp\t\t"] {
      capture.add(line: line[...])
    }
    let (one, other) = (plain.streams(), capture.streams())
    #expect(one.count == 1 && one.map(\.summary) == other.map(\.summary))
  }

  /// A tunnel has addresses of both kinds; those inside count.
  @Test(arguments: [
    ("eth:ip:udp:gtp:ipv6:udp:rtp", "2001:db8::1"), ("eth:ipv6:udp:gtp:ip:udp:rtp", "192.0.2.10"),
  ])
  func addressesInsideATunnelCount(protocols: String, host: String) {
    var capture = PacketCapture()
    for number in 0..<10 {
      let header = [0x80, 0] + CaptureScene.big(number, 2) + CaptureScene.big(number * 160, 4)
      let bytes = header + [0, 0, 0, 7] + [UInt8](repeating: 0x40, count: 20)
      let fields = [
        "\(number)", "192.0.2.10", "192.0.2.20", "2001:db8::1", "2001:db8::2", "40000", "30000",
        "\(bytes.count + 8)", "",
        bytes.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined(),
        protocols, "0x00000001", "",
      ]
      capture.add(line: fields.joined(separator: "\t")[...])
    }
    #expect(
      capture.streams().map { "\($0.source)" } == [Endpoint(host: host, port: 40_000)?.description]
    )
  }

  /// A frame of Wi-Fi may hold several datagrams side by side.
  @Test func datagramsOfOneFrameAreAllRead() {
    var capture = PacketCapture()
    for frame in 0..<50 {
      let payloads = (0..<2).map { number in
        let bytes = [0x80, 0] + CaptureScene.big(100 + 2 * frame + number, 2)
        let rest = CaptureScene.big(160 * (2 * frame + number), 4) + CaptureScene.big(7, 4)
        return (bytes + rest + [UInt8](repeating: 0x40, count: 160))
          .map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
      }
      let fields = [
        "1.\(100 + frame)", "192.0.2.10;192.0.2.10", "192.0.2.20;192.0.2.20", "", "",
        "40000;40000", "30000;30000", "180;180", "", payloads.joined(separator: ";"),
        "radiotap:wlan_radio:wlan:llc:ip:udp:data:llc:ip:udp:data", "", "",
      ]
      capture.add(line: fields.joined(separator: "\t")[...])
    }
    let streams = capture.streams()
    #expect(streams.map(\.received) == [100] && streams.map(\.lost) == [0])
  }

  /// Packets that leave two at a time, as by the period of a sound card, crossed no network.
  @Test func whatLeavesInBlocksIsNotTaken() throws {
    var scene = CaptureScene()
    scene.add(Stream(jitter: 0.1))
    var sent = CaptureScene()
    sent.add(Stream(ssrc: 9, isOutgoing: true, begin: 980))
    for (index, frame) in sent.frames.enumerated() {
      scene.add(frame: frame.bytes, at: frame.at + (index % 2 == 0 ? 20_000_000 : 0))
    }
    #expect(throws: PacketCapture.ChoiceError.self) { try scene.taken() }
  }

  /// The clock rate found is one in use, however much the packets are delayed.
  @Test(arguments: UInt64(1)...8) func clockIsFoundInJitter(seed: UInt64) {
    var scene = CaptureScene()
    scene.add(Stream(payloadType: 111, ticks: 960, seconds: 4, jitter: 30), seed: seed)
    let format = scene.streams().first?.format
    #expect(
      format?.clockRate == 48_000 && format?.origin == .measured,
      "\(String(describing: format))"
    )
  }

  @Test(arguments: [
    ("::1", "[::1]:5"), ("2001:db8:0:0:1:0:0:1", "[2001:db8::1:0:0:1]:5"),
    ("fe80::1:2", "[fe80::1:2]:5"), ("::", "[::]:5"), ("1:2:3:4:5:6:7:8", "[1:2:3:4:5:6:7:8]:5"),
    ("2001:db8:1:0:1:1:1:1", "[2001:db8:1:0:1:1:1:1]:5"),
  ])
  func addressesAreWrittenAsTheyAreUsually(text: String, shown: String) throws {
    #expect(try #require(Endpoint(host: text, port: 5)).description == shown)
  }

  @Test(arguments: ["1::2::3", "1:2", "1:2:3:4:5:6:7:8:9", "x::1", "12345::"])
  func whatIsNoAddressIsNone(text: String) {
    #expect(Endpoint(host: text, port: 5) == nil)
  }
}
