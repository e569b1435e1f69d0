import COpus
import Foundation
import MediaCore
import Testing

@testable import Codecs

/// Owners of libopus's encoder and decoder: sound passes through, and damaged packets do no harm.
struct OpusTests {
  /// Speech-like: three harmonics that swell four times a second.
  private static func voice(from first: Int, count: Int) -> SampleBuffer {
    SampleBuffer(
      (first..<first + count).map { frame in
        let time = Double(frame) / 48_000
        let loudness = 0.5 + 0.5 * sin(2 * Double.pi * 4 * time)
        let tone = sin(2 * Double.pi * 150 * time) + 0.5 * sin(2 * Double.pi * 450 * time)
        return Float(0.2 * loudness * tone)
      }
    )
  }

  private static func power(_ samples: borrowing SampleBuffer, count: Int) -> Double {
    var sum = 0.0
    for index in 0..<count { sum += Double(samples[index]) * Double(samples[index]) }
    return sum / Double(max(1, count))
  }

  private static func duration(of packet: [UInt8]) -> FrameCount? {
    OpusVoiceDecoder.frames(of: ByteBuffer(packet + [0]), in: 0..<packet.count)
  }

  private static func redundantFrames(_ packet: [UInt8]) -> FrameCount {
    OpusVoiceDecoder.redundantFrames(of: ByteBuffer(packet + [0]), in: 0..<packet.count)
  }

  /// Packets of so many frames.
  private static func packets(
    _ count: Int,
    frames: FrameCount,
    bitrate: Int = 48_000,
    expectedLoss: Int = 0
  ) throws -> [[UInt8]] {
    var encoder = try OpusVoiceEncoder(
      application: frames < 480 ? .lowDelay : .speech,
      bitrate: bitrate
    )
    encoder.setRedundancy(enabled: expectedLoss > 0, expectedLossPercent: expectedLoss)
    var bytes = ByteBuffer(repeating: 0, count: 1_500)
    return (0..<count).map { index in
      let length = encoder.encode(
        voice(from: index * frames, count: frames),
        frames: frames,
        into: &bytes,
        at: 0
      )
      return (0..<length).map { bytes[$0] }
    }
  }

  /// A decoder with room for its input and output.
  private struct Player: ~Copyable {
    var decoder: OpusVoiceDecoder
    var output = SampleBuffer(repeating: 0, count: OpusVoiceDecoder.maximumFrames)

    init(after packets: ArraySlice<[UInt8]> = [], complexity: Int = 0) throws {
      decoder = try OpusVoiceDecoder(complexity: complexity)
      for packet in packets { _ = decode(packet) }
    }

    mutating func decode(_ packet: [UInt8]) -> [Float] {
      let count = decoder.decode(ByteBuffer(packet), in: 0..<packet.count, into: &output)
      return (0..<count).map { output[$0] }
    }

    mutating func conceal(_ frames: FrameCount) -> [Float] {
      let count = decoder.conceal(into: &output, frames: frames)
      return (0..<count).map { output[$0] }
    }

    mutating func pass(_ frames: FrameCount) -> Bool { decoder.pass(frames, using: &output) }

    mutating func endConcealment() { decoder.endConcealment() }
  }

  @Test(arguments: [120, 240, 480, 960, 1_920, 2_880])
  func everyDurationComesBackAsLongAndAsLoud(frames: FrameCount) throws {
    var player = try Player()
    let packets = try Self.packets(48_000 / frames, frames: frames, bitrate: 96_000)
    var heard: [Float] = []
    for packet in packets {
      #expect(Self.duration(of: packet) == frames)
      let decoded = player.decode(packet)
      #expect(decoded.count == frames)
      heard += decoded
    }
    let said = Self.power(Self.voice(from: 0, count: heard.count), count: heard.count)
    let played = Self.power(SampleBuffer(heard), count: heard.count)
    #expect(abs(played / said - 1) < 0.1)
  }

  /// Complexity 5 does not change received packets, and changes concealment only from libopus 1.5
  /// on.
  @Test func complexityConcealsOtherwiseWhereTheLibraryCan() throws {
    let packets = try Self.packets(20, frames: 960)
    var plain = try Player(after: packets[..<19])
    var deep = try Player(after: packets[..<19], complexity: 5)
    #expect(plain.decode(packets[19]) == deep.decode(packets[19]))
    #expect((plain.conceal(480) != deep.conceal(480)) == OpusLibrary.concealsDeeply)
  }

  @Test func lookAheadIsWhatTheDecoderIsLateBy() throws {
    let speech = try OpusVoiceEncoder(application: .speech, bitrate: 48_000)
    let music = try OpusVoiceEncoder(application: .lowDelay, bitrate: 48_000)
    let (slow, fast) = (speech.lookAhead, music.lookAhead)
    #expect(slow > fast && fast >= 120 && slow <= 480)
  }

  @Test func bitrateChangesWithinACall() throws {
    var encoder = try OpusVoiceEncoder(application: .speech, bitrate: 64_000)
    var bytes = ByteBuffer(repeating: 0, count: 1_500)
    func mean(_ encoder: inout OpusVoiceEncoder, from first: Int) -> Double {
      var sum = 0
      for index in first..<first + 50 {
        let block = Self.voice(from: index * 960, count: 960)
        sum += encoder.encode(block, frames: 960, into: &bytes, at: 0)
      }
      return Double(sum) / 50
    }
    let rich = mean(&encoder, from: 0)
    encoder.setBitrate(12_000)
    let poor = mean(&encoder, from: 50)
    #expect(rich > 110, "64 kbit/s are 160 bytes in 20 ms: \(rich)")
    #expect(poor < 45, "12 kbit/s are 30 bytes: \(poor)")
  }

  @Test func encoderRefusesWhatLibopusRefuses() {
    #expect(throws: OpusCodecError.self) {
      _ = try OpusVoiceEncoder(application: .speech, bitrate: 48_000, complexity: 11)
    }
  }

  @Test func packetStartsWhereItIsWantedAndFillsNoMore() throws {
    var encoder = try OpusVoiceEncoder(application: .speech, bitrate: 48_000)
    var bytes = ByteBuffer(repeating: 0xEE, count: 400)
    let block = Self.voice(from: 0, count: 960)
    let length = encoder.encode(block, frames: 960, into: &bytes, at: 12)
    #expect(length > 20 && 12 + length <= 400)
    #expect((0..<12).allSatisfy { bytes[$0] == 0xEE } && bytes[12 + length] == 0xEE)
    let none = encoder.encode(block, frames: 777, into: &bytes, at: 0)
    #expect(none == 0, "Opus has no packet of 777 frames")
  }

  // MARK: Loss

  /// Kinds of senders: one channel, two, or with padding.
  enum Sender: CaseIterable {
    case mono, stereo, padded

    func packets(frames: FrameCount) throws -> [[UInt8]] {
      if self == .stereo { return try OpusTests.stereoPackets(60, frames: frames) }
      let packets = try OpusTests.packets(60, frames: frames, bitrate: 32_000, expectedLoss: 20)
      return self == .mono ? packets : packets.map { OpusTests.padded($0, by: 300) }
    }
  }

  private static func stereoPackets(_ count: Int, frames: FrameCount) throws -> [[UInt8]] {
    let created = unsafe opus_encoder_create(48_000, 2, OPUS_APPLICATION_VOIP, nil)
    let encoder = unsafe try #require(created)
    defer { unsafe opus_encoder_destroy(encoder) }
    let settings = unsafe [
      opus_voice_set_redundancy(encoder, 1), opus_voice_set_loss(encoder, 20),
      opus_voice_set_bitrate(encoder, 48_000),
    ]
    #expect(settings == [OPUS_OK, OPUS_OK, OPUS_OK])
    return (0..<count).map { index in
      let block = voice(from: index * frames, count: frames)
      let samples = (0..<2 * frames).map { block[$0 / 2] * ($0 % 2 == 0 ? 1 : 0.7) }
      var bytes = [UInt8](repeating: 0, count: 1_500)
      let length = unsafe opus_encode_float(encoder, samples, CInt(frames), &bytes, 1_500)
      return Array(bytes.prefix(Int(length)))
    }
  }

  private static func padded(_ packet: [UInt8], by count: Int) -> [UInt8] {
    var bytes = packet + Array(repeating: 0, count: count)
    let code = unsafe opus_packet_pad(&bytes, CInt(packet.count), CInt(bytes.count))
    #expect(code == OPUS_OK)
    return bytes
  }

  @Test(arguments: [480, 960, 1_920, 2_880], Sender.allCases)
  func redundancyBringsTheEndOfTheLostPacket(frames: FrameCount, sender: Sender) throws {
    let packets = try sender.packets(frames: frames)
    let carriers = packets.map { Self.redundantFrames($0) }
    let redundant = try #require(carriers.max())
    #expect(redundant == min(frames, 960), "of several Opus frames the last one")
    let protected = carriers.dropFirst(10).count { $0 > 0 }
    #expect(protected > 25, "most of the speech is protected: \(protected) of 50")
    let lost = try #require((20..<59).first { carriers[$0 + 1] > 0 })
    var whole = try Player()
    var saved = try Player()
    var concealed = try Player()
    var original: [Float] = []
    for index in 0...lost {
      original = whole.decode(packets[index])
      if index < lost {
        _ = saved.decode(packets[index])
        _ = concealed.decode(packets[index])
      }
    }
    let next = packets[lost + 1]
    var output = SampleBuffer(repeating: 0, count: 5_760)
    // What lies before it in the lost packet is passed over.
    if redundant < frames { _ = saved.conceal(frames - redundant) }
    var passed = SampleBuffer(repeating: 0, count: 5_760)
    _ = saved.decoder.pass(frames - redundant, using: &passed)
    let count = saved.decoder.recover(
      ByteBuffer(next),
      in: 0..<next.count,
      into: &output,
      frames: redundant
    )
    #expect(count == redundant)
    let guess = Array(concealed.conceal(frames).suffix(redundant))
    original = Array(original.suffix(redundant))
    func error(_ samples: [Float]) -> Float {
      zip(samples, original).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }
    let recovered = error((0..<redundant).map { output[$0] })
    #expect(recovered < error(guess), "\(recovered) against \(error(guess))")
  }

  @Test func packetsWithoutRedundancySaySo() throws {
    for frames in [960, 1_920, 2_880] {
      for packet in try Self.packets(40, frames: frames) {
        #expect(Self.redundantFrames(packet) == 0)
      }
    }
    for short in [[], [0x48], [0x48, 0xFF]] as [[UInt8]] {
      #expect(Self.redundantFrames(short) == 0)
    }
  }

  @Test func concealmentFadesAndNeverGrows() throws {
    var player = try Player()
    for packet in try Self.packets(50, frames: 960) { _ = player.decode(packet) }
    var levels: [Float] = []
    for _ in 0..<50 { levels.append(player.conceal(480).map(abs).max() ?? 0) }
    #expect(levels.allSatisfy { $0 < 0.5 })
    #expect(levels.suffix(10).allSatisfy { $0 < 0.02 }, "after half a second it is quiet")
  }

  // MARK: Broken input

  @Test func garbageDecodesToNothingOrToNumbers() throws {
    var player = try Player()
    var state: UInt64 = 42
    func byte() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
    let good = try Self.packets(1, frames: 960)[0]
    for round in 0..<2_000 {
      var packet = (0..<1 + Int(byte()) % 200).map { _ in byte() }
      if round % 3 == 0 {
        packet = good
        packet[Int(byte()) % packet.count] ^= 1 << (byte() % 8)
        packet = Array(packet.prefix(1 + Int(byte()) % packet.count))
      }
      let decoded = player.decode(packet)
      #expect(decoded.count <= OpusVoiceDecoder.maximumFrames)
      // libopus does not limit floats; what plays them does (`SampleFormat`).
      #expect(decoded.allSatisfy { $0.isFinite })
    }
    // And afterwards it still works.
    for packet in try Self.packets(20, frames: 960) { #expect(player.decode(packet).count == 960) }
  }

  @Test func durationsThatMakeNoSenseAreNone() {
    for packet in [[0xFF, 0xFF], [0x03, 0x3F]] as [[UInt8]] {
      let frames = Self.duration(of: packet)
      #expect(frames == nil || (120...5_760).contains(frames ?? 0))
    }
    #expect(Self.duration(of: []) == nil)
  }

  // MARK: Concealment on a copy

  @Test func packetThatComesAfterConcealmentIsDecodedAsIfInTime() throws {
    let packets = try Self.packets(12, frames: 960, bitrate: 24_000)
    var inTime = try Player(after: packets[0..<10])
    let wanted = inTime.decode(packets[10])
    var late = try Player(after: packets[0..<10])
    _ = late.conceal(480)
    _ = late.conceal(480)
    let isFollowed = late.pass(0)
    let heard = late.decode(packets[10])
    #expect(!isFollowed && heard == wanted)
    var plain = try Player(after: packets[0..<10])
    _ = plain.conceal(480)
    let isAdopted = plain.pass(480)
    let other = plain.decode(packets[10])
    #expect(isAdopted && other != wanted)
    var simple = try Player(after: packets[0..<10])
    _ = simple.conceal(480)
    let same = simple.decode(packets[10])
    #expect(same == other)
  }

  @Test func decoderIsTakenNoFurtherThanTheLoss() throws {
    let packets = try Self.packets(12, frames: 960, bitrate: 24_000)
    var exact = try Player(after: packets[0..<9])
    _ = exact.conceal(960)
    let isAdopted = exact.pass(960)
    let wanted = exact.decode(packets[10])
    var late = try Player(after: packets[0..<9])
    for _ in 0..<3 { _ = late.conceal(480) }
    let isFollowed = late.pass(960)
    let heard = late.decode(packets[10])
    #expect(isAdopted && !isFollowed && heard == wanted)
  }

  @Test func concealmentGoesOnWhereItWasUntilItIsEnded() throws {
    let packets = try Self.packets(12, frames: 960, bitrate: 24_000)
    var silent = try Player(after: packets[0..<10])
    _ = silent.conceal(480)
    let wanted = silent.conceal(480)
    var late = try Player(after: packets[0..<10])
    _ = late.conceal(480)
    _ = late.pass(0)
    _ = late.decode(packets[10])
    let heard = late.conceal(480)
    #expect(heard == wanted)
    late.endConcealment()
    var next = try Player(after: packets[0..<11])
    let (here, there) = (late.conceal(480), next.conceal(480))
    #expect(here == there)
  }
}
