import MediaCore
import Codecs
import Testing

struct OpusVoiceDecoderTests {
  /// A decoder with a buffer of its own.
  private struct Listener: ~Copyable {
    private var decoder: OpusVoiceDecoder
    private var samples = SampleBuffer(repeating: 0, count: OpusVoiceDecoder.maximumFrames)

    init(_ packets: ArraySlice<[UInt8]>) throws {
      decoder = try OpusVoiceDecoder()
      for packet in packets { _ = hear(packet) }
    }

    mutating func hear(_ packet: [UInt8]) -> [Float] {
      let count = decoder.decode(ByteBuffer(packet), in: 0..<packet.count, into: &samples)
      return (0..<count).map { samples[$0] }
    }

    mutating func conceal(_ frames: Int) -> [Float] {
      let count = decoder.conceal(into: &samples, frames: frames)
      return (0..<count).map { samples[$0] }
    }

    mutating func pass(_ frames: Int) -> Bool { decoder.pass(frames, using: &samples) }

    mutating func endConcealment() { decoder.endConcealment() }
  }

  /// 20 ms each, of one voice.
  private static func packets() throws -> [[UInt8]] {
    var encoder = try OpusVoiceEncoder(application: .speech, bitrate: 24_000)
    return (0..<12).map { index in
      let said = (0..<960).map { VirtualCall.voice(at: index * 960 + $0) }
      var bytes = ByteBuffer(repeating: 0, count: 1_500)
      let length = encoder.encode(SampleBuffer(said), frames: 960, into: &bytes, at: 0)
      return (0..<length).map { bytes[$0] }
    }
  }

  @Test func packetThatComesAfterConcealmentIsDecodedAsIfInTime() throws {
    let packets = try Self.packets()
    var inTime = try Listener(packets[0..<10])
    let wanted = inTime.hear(packets[10])
    var late = try Listener(packets[0..<10])
    _ = late.conceal(480)
    _ = late.conceal(480)
    let isFollowed = late.pass(0)
    let heard = late.hear(packets[10])
    #expect(!isFollowed && heard == wanted)
    var plain = try Listener(packets[0..<10])
    _ = plain.conceal(480)
    let isAdopted = plain.pass(480)
    let other = plain.hear(packets[10])
    #expect(isAdopted && other != wanted)
    var simple = try Listener(packets[0..<10])
    _ = simple.conceal(480)
    let same = simple.hear(packets[10])
    #expect(same == other)
  }

  @Test func decoderIsTakenNoFurtherThanTheLoss() throws {
    let packets = try Self.packets()
    var exact = try Listener(packets[0..<9])
    _ = exact.conceal(960)
    let isAdopted = exact.pass(960)
    let wanted = exact.hear(packets[10])
    var late = try Listener(packets[0..<9])
    for _ in 0..<3 { _ = late.conceal(480) }
    let isFollowed = late.pass(960)
    let heard = late.hear(packets[10])
    #expect(isAdopted && !isFollowed && heard == wanted)
  }

  @Test func concealmentGoesOnWhereItWasUntilItIsEnded() throws {
    let packets = try Self.packets()
    var silent = try Listener(packets[0..<10])
    _ = silent.conceal(480)
    let wanted = silent.conceal(480)
    var late = try Listener(packets[0..<10])
    _ = late.conceal(480)
    _ = late.pass(0)
    _ = late.hear(packets[10])
    let heard = late.conceal(480)
    #expect(heard == wanted)
    late.endConcealment()
    var next = try Listener(packets[0..<11])
    let (here, there) = (late.conceal(480), next.conceal(480))
    #expect(here == there)
  }
}
