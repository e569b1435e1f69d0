import Codecs
import MediaCore
import Testing

@testable import VoiceStream

struct G711VoiceDecoderTests {
  /// A decoder with a buffer of its own.
  private struct Listener: ~Copyable {
    private var decoder: G711VoiceDecoder
    private var samples = SampleBuffer(repeating: 0, count: 5_760)

    init(_ packets: ArraySlice<[UInt8]>) throws {
      decoder = try G711VoiceDecoder(law: .a)
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

  /// Packets of 20 ms each, of one voice.
  private static let packets = (0..<12).map { packet in
    (0..<160).map { G711.encode(VirtualCall.voice(at: (packet * 160 + $0) * 6), law: .a) }
  }

  private static func power(_ samples: some Sequence<Float>) -> Float {
    samples.reduce(0) { $0 + $1 * $1 }
  }

  @Test func eachPacketSoundsForItsWholeDuration() throws {
    var listener = try Listener([])
    for packet in Self.packets {
      let heard = listener.hear(packet).count
      #expect(heard == 960)
    }
    let concealed = listener.conceal(480).count
    let long = listener.hear([UInt8](repeating: 0x55, count: 960)).count
    #expect(concealed == 480 && long == 5_760)
  }

  @Test func packetThatComesAfterConcealmentIsDecodedAsIfInTime() throws {
    var inTime = try Listener(Self.packets[0..<10])
    let wanted = inTime.hear(Self.packets[10])
    var late = try Listener(Self.packets[0..<10])
    _ = late.conceal(480)
    _ = late.conceal(480)
    let isFollowed = late.pass(0)
    let heard = late.hear(Self.packets[10])
    #expect(!isFollowed && heard == wanted)
  }

  @Test func packetAfterALossGoesOnFromWhatWasInvented() throws {
    var listener = try Listener(Self.packets[0..<10])
    let invented = listener.conceal(480) + listener.conceal(480)
    let isFollowed = listener.pass(960)
    let heard = listener.hear(Self.packets[11])
    let sound = invented + heard
    let steps = zip(sound, sound.dropFirst()).map { abs($0 - $1) }
    #expect(isFollowed && steps[940..<980].max() ?? 1 < 2 * (steps[..<900].max() ?? 0))
  }

  @Test func concealmentGoesOnWhereItWasUntilItIsEnded() throws {
    var silent = try Listener(Self.packets[0..<10])
    _ = silent.conceal(480)
    let wanted = silent.conceal(480)
    var late = try Listener(Self.packets[0..<10])
    _ = late.conceal(480)
    _ = late.pass(0)
    _ = late.hear(Self.packets[10])
    let heard = late.conceal(480)
    #expect(heard == wanted)
    late.endConcealment()
    var next = try Listener(Self.packets[0..<11])
    let (here, there) = (late.conceal(480), next.conceal(480))
    #expect(here == there)
  }

  @Test func voiceGoesOnWhereAPacketIsMissing() throws {
    var whole = try Listener(Self.packets[0..<10])
    let wanted = whole.hear(Self.packets[10])
    var broken = try Listener(Self.packets[0..<10])
    let heard = broken.conceal(480)
    // What the resampler still had, 3 ms, is exact but for its filter; what was invented for 5 ms
    // is near.
    #expect(Self.power(zip(heard, wanted).prefix(100).map { $0 - $1 }) < 1e-6)
    let error = Self.power(zip(heard, wanted).prefix(384).map { $0 - $1 })
    #expect(error < 0.5 * Self.power(wanted[..<384]))
  }
}
