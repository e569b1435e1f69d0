import MediaCore
import RTP
import Testing

@testable import VoiceStream

struct DecodeLogTests {
  /// A packet of 10 ms lasts for two periods.
  @Test func logIsThatOfOnePeriod() throws {
    var scene = try PacketScene()
    scene.play(try PacketScene.voice(seconds: 1), until: 900)
    #expect(scene.receiver.voice.decodes.count <= 1)
  }
}

struct LossEstimateTests {
  private static func estimate(_ runs: [(isReceived: Bool, count: Int)]) -> [Double] {
    var estimate = LossEstimate()
    for run in runs { estimate.add(isReceived: run.isReceived, count: run.count) }
    return (0...3).map { estimate.share(reach: $0) }
  }

  @Test func nothingSentIsNothingLost() {
    #expect(Self.estimate([]) == [0, 0, 0, 0])
    #expect(Self.estimate([(true, 1_000)]) == [0, 0, 0, 0])
  }

  @Test func copiesSaveRunsThatAreOverWhenTheyAreSent() {
    // One, two and three in a row of a hundred.
    let shares = Self.estimate([
      (true, 30), (false, 1), (true, 30), (false, 2), (true, 30), (false, 3), (true, 4),
    ])
    for (share, lost) in zip(shares, [6.0, 3, 1, 0]) { #expect(abs(share - lost / 100) < 1e-9) }
  }

  @Test func copyIsSentSoLateThatMostRunsAreOver() {
    var estimate = LossEstimate()
    // Nine runs of five, and one of twenty, of a thousand packets.
    for run in 0..<10 {
      estimate.add(isReceived: true, count: 93)
      estimate.add(isReceived: false, count: run == 5 ? 20 : 5)
    }
    estimate.add(isReceived: true, count: 5)
    let (much, little) = (estimate.reach(gaining: 0.002), estimate.reach(gaining: 0.000_5))
    #expect(much == 5 && little == LossEstimate.farthest)
  }

  @Test func burstsOfShortPacketsHaveFewerLongOnes() {
    var estimate = LossEstimate()
    estimate.add(isReceived: true, count: 92)
    estimate.add(isReceived: false, count: 8)
    estimate.add(isReceived: true, count: 1)
    let short = (0...8).map { estimate.share(reach: $0) }
    estimate.rescale(from: 120, to: 480)
    let long = (0...8).map { estimate.share(reach: $0) }
    #expect(long[0] == short[0] && long[1] == short[4] && long[2] == 0)
    let reach = estimate.reach(gaining: 0.002)
    #expect(reach == 2)
    estimate.rescale(from: 480, to: 240)
    let middle = (0...4).map { estimate.share(reach: $0) }
    #expect(middle[0] == short[0] && middle[2] == short[4] && middle[4] == 0)
  }

  @Test func runThatIsSplitOverTwoReportsIsOne() {
    let whole = Self.estimate([(true, 50), (false, 4), (true, 46)])
    let split = Self.estimate([(true, 50), (false, 1), (false, 3), (true, 46)])
    #expect(whole == split)
  }

  @Test func oldLossesFade() {
    var estimate = LossEstimate()
    estimate.fade(to: MonotonicInstant(nanoseconds: 0))
    estimate.add(isReceived: false, count: 10)
    estimate.add(isReceived: true, count: 90)
    let early = estimate.share(reach: 0)
    for second in 1...60 {
      estimate.fade(to: MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000))
      estimate.add(isReceived: true, count: 100)
    }
    let late = estimate.share(reach: 0)
    #expect(abs(early - 0.1) < 1e-9 && late < 0.001)
  }
}

struct MediaClockTests {
  @Test func framesGoOnWhereTheTimestampsWrap() {
    var clock = MediaClock(framesPerTick: 1)
    let first = clock.frame(at: RTPTimestamp(rawValue: .max - 479))
    let second = clock.frame(at: RTPTimestamp(rawValue: 0))
    let third = clock.frame(at: RTPTimestamp(rawValue: 480))
    #expect(second - first == 480 && third - second == 480)
    let back = clock.frame(at: RTPTimestamp(rawValue: .max - 479))
    #expect(back == first, "a late packet has its old place")
  }

  @Test func ticksOfTelephonyAreSixFrames() {
    var clock = MediaClock(framesPerTick: 6)
    let first = clock.frame(at: RTPTimestamp(rawValue: 1_000))
    let next = clock.frame(at: RTPTimestamp(rawValue: 1_160))
    #expect(next - first == 960)
    #expect(clock.timestamp(of: next + 960)?.rawValue == 1_320)
    #expect(clock.timestamp(of: first)?.rawValue == 1_000)
  }

  /// Timestamps leap by about half of their range, again and again in one direction.
  @Test(arguments: [UInt32(0x7FFF_FFFF), 0x8000_0001])
  func leapsStayWithinBounds(leap: UInt32) {
    var clock = MediaClock(framesPerTick: 6)
    var raw = RTPTimestamp(rawValue: 0)
    var frames: [Int64] = []
    for _ in 0..<2_000 {
      raw = RTPTimestamp(rawValue: raw.rawValue &+ leap)
      frames.append(clock.frame(at: raw))
    }
    #expect(frames.allSatisfy { (1 << 33..<1 << 42).contains($0) })
    let last = clock.frame(at: raw)
    #expect(clock.frame(at: RTPTimestamp(rawValue: raw.rawValue &+ 160)) == last + 960)
  }

  @Test func newCountBeginsFarFromZero() {
    var clock = MediaClock(framesPerTick: 1)
    #expect(clock.timestamp(of: 0) == nil)
    let first = clock.frame(at: RTPTimestamp(rawValue: 7))
    // Packets of before the first one have positive frames as well.
    #expect(first > 1 << 33)
    clock.restart()
    #expect(clock.timestamp(of: first) == nil)
    let again = clock.frame(at: RTPTimestamp(rawValue: 4_000_000_000))
    #expect(again == first)
  }
}

struct PayloadHistoryTests {
  private static let own = 12

  /// The blocks of a packet that carries copies (RFC 2198): age in ticks and bytes.
  private static func blocks(
    depth: Int,
    reach: Int? = nil,
    sent: [(timestamp: UInt32, payload: [UInt8])],
    at timestamp: UInt32
  ) -> [(age: Int, bytes: [UInt8])] {
    var history = PayloadHistory()
    for (stamp, payload) in sent {
      let datagram = ByteBuffer([UInt8](repeating: 0, count: own) + payload)
      history.append(
        datagram,
        at: own,
        length: payload.count,
        timestamp: RTPTimestamp(rawValue: stamp)
      )
    }
    var packet = ByteBuffer(repeating: 0, count: 1_500)
    let end = history.write(
      depth: depth,
      reach: reach ?? depth,
      payloadType: 96,
      timestamp: RTPTimestamp(rawValue: timestamp),
      to: &packet,
      at: own
    )
    // Headers of four bytes up to the one of a single byte, then the payloads.
    var headers: [(age: Int, length: Int)] = []
    var place = own
    while packet[place] & 0x80 != 0 {
      let age = Int(packet[place + 1]) << 6 | Int(packet[place + 2]) >> 2
      let length = (Int(packet[place + 2]) & 3) << 8 | Int(packet[place + 3])
      headers.append((age, length))
      place += 4
    }
    #expect(packet[place] == 96, "the last header is the packet's own")
    place += 1
    let blocks = headers.map { header in
      defer { place += header.length }
      return (header.age, (0..<header.length).map { packet[place + $0] })
    }
    #expect(place == end, "its payload follows the copies")
    return blocks
  }

  private static let sent: [(timestamp: UInt32, payload: [UInt8])] = [
    (480, [1]), (960, [2, 2]), (1_440, [3, 3, 3]), (1_920, [4]),
  ]

  @Test func newestPayloadsAreSentAgainOldestFirst() {
    let one = Self.blocks(depth: 1, sent: Self.sent, at: 2_400)
    #expect(one.map(\.age) == [480] && one.map(\.bytes) == [[4]])
    let three = Self.blocks(depth: 3, sent: Self.sent, at: 2_400)
    #expect(three.map(\.age) == [1_440, 960, 480])
    #expect(three.map(\.bytes) == [[2, 2], [3, 3, 3], [4]])
    #expect(Self.blocks(depth: 0, sent: Self.sent, at: 2_400).isEmpty)
    #expect(Self.blocks(depth: 3, sent: [], at: 2_400).isEmpty)
    #expect(
      Self.blocks(depth: 3, sent: [Self.sent[0]], at: 960).count == 1,
      "no more than there is"
    )
  }

  @Test(arguments: [(1, 8, [8]), (2, 5, [5, 3]), (3, 4, [4, 3, 1]), (3, 8, [8, 5, 3])])
  func oldestCopyIsAsOldAsItsReachAndOthersLieBetween(depth: Int, reach: Int, ages: [Int]) {
    let sent = (1...20).map { (timestamp: UInt32($0), payload: [UInt8($0)]) }
    let blocks = Self.blocks(depth: depth, reach: reach, sent: sent, at: 21)
    #expect(blocks.map(\.age) == ages)
    #expect(blocks.map(\.bytes) == ages.map { [UInt8(21 - $0)] })
    // Where there are fewer, the later ones are there all the same.
    let few = Self.blocks(depth: depth, reach: reach, sent: Array(sent.prefix(4)), at: 5)
    #expect(few.map(\.age) == ages.filter { $0 <= 4 })
  }

  @Test func whatTheHeaderCannotSayIsLeftOut() {
    // Offsets have 14 bits: 341 ms at 48 kHz.
    let late = Self.blocks(depth: 3, sent: Self.sent, at: 1_440 + 16_384)
    #expect(late.map(\.bytes) == [[4]])
    // Lengths have 10 bits; a longer payload breaks the row.
    let long = Self.sent + [(2_400, [UInt8](repeating: 9, count: 1_024))]
    #expect(Self.blocks(depth: 3, sent: long, at: 2_880).isEmpty)
  }

  @Test func copiesNeverMakeAPacketThatNetworksDrop() {
    let big = (1...3).map {
      (timestamp: UInt32($0 * 480), payload: [UInt8](repeating: 1, count: 600))
    }
    let blocks = Self.blocks(depth: 3, sent: big, at: 1_920)
    let total = blocks.reduce(0) { $0 + $1.bytes.count }
    #expect(total <= 700 && !blocks.isEmpty)
    #expect(blocks.last?.age == 480, "the newest counts most")
  }
}

struct DecoderComplexityTests {
  @Test(arguments: [(0, 0), (4, 4), (9, 5), (10, 7)])
  func decoderIsLetComputeWhatSuitsTheEncoder(encoder: Int, decoder: Int) {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.complexity = encoder
    #expect(configuration.suitedDecoderComplexity == decoder)
    configuration.decoderComplexity = 6
    #expect(configuration.suitedDecoderComplexity == 6)
  }
}
