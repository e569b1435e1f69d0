import Foundation
import MediaCore
import Testing

@testable import VoiceStream

/// Captured samples that are left over after each packet.
struct PacketizationResidueTests {
  /// Number of frames that are dropped first; nil if none are.
  ///
  /// Blocks of 2.5 ms come for `milliseconds`, the last `quiet` of these below the threshold of
  /// silence; `pending` gives the frames that are left over before each block.
  private static func frames(
    pending: (Int) -> FrameCount,
    milliseconds: Int,
    quiet: Int
  ) -> FrameCount? {
    var remainder = PacketizationResidue()
    var frames: FrameCount?
    let blocks = milliseconds * 2 / 5
    for block in 0..<blocks {
      remainder.note(pending: pending(block), before: 120)
      let isQuiet = block >= blocks - quiet * 2 / 5
      if remainder.isKnown {
        let taken = remainder.take(afterBlockOf: 120, peak: isQuiet ? 0.009 : 0.011)
        frames = frames ?? taken
      }
    }
    return frames
  }

  @Test func leastThatWasLeftForASecondIsLeftOutInAPause() {
    let frames = Self.frames(pending: { $0 % 2 == 0 ? 72 : 192 }, milliseconds: 1_200, quiet: 200)
    #expect(frames == 72)
  }

  @Test func sentenceIsNotCut() {
    let frames = Self.frames(pending: { _ in 72 }, milliseconds: 60_000, quiet: 195)
    #expect(frames == nil)
  }

  @Test func whatIsSometimesNeededStays() {
    let frames = Self.frames(
      pending: { $0 % 399 == 0 ? 0 : 72 },
      milliseconds: 60_000,
      quiet: 60_000
    )
    #expect(frames == nil)
  }

  @Test func halfAMillisecondIsNotWorthAJoint() {
    #expect(Self.frames(pending: { _ in 23 }, milliseconds: 9_000, quiet: 9_000) == nil)
    #expect(Self.frames(pending: { _ in 24 }, milliseconds: 9_000, quiet: 9_000) == 24)
  }

  @Test func whatBecomesLessMayBecomeNothing() {
    let frames = Self.frames(
      pending: { 239 - $0 % 956 / 4 },
      milliseconds: 60_000,
      quiet: 60_000
    )
    #expect(frames == nil)
  }

  @Test func noMoreIsLeftOutThanTheFarSideBears() {
    let frames = Self.frames(pending: { _ in 192 }, milliseconds: 2_000, quiet: 500)
    #expect(frames == 119)
  }

  /// Packets of four seconds of a microphone: two of voice, half a second of `pause`, voice again.
  ///
  /// The first block has `first` frames, unless that is 0, and all others have `size`.
  private static func sent(
    first: FrameCount,
    block size: FrameCount = 120,
    _ codec: StreamConfiguration.Codec = .opus,
    pause: (Int) -> Float = { _ in 0 }
  ) throws -> [SentPacket] {
    var configuration = VoiceStreamTests.configuration(codec, frames: 240)
    configuration.complexity = 0
    var stream = try VoiceStream(configuration)
    var block = SampleBuffer(repeating: 0, count: size)
    var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    var packets: [SentPacket] = []
    var captured = 0
    while captured < 192_000 {
      let count = captured == 0 && first > 0 ? first : size
      for index in 0..<count {
        let frame = captured + index
        let isPause = (96_000..<120_000).contains(frame)
        block[index] = isPause ? pause(frame) : VirtualCall.voice(at: frame)
      }
      stream.push(block, count: count, isMuted: false)
      captured += count
      while let length = stream.nextPacket(into: &datagram) {
        let bytes = (0..<length).map { datagram[$0] }
        packets.append(SentPacket(at: Double(captured) / 48, bytes: bytes))
      }
    }
    return packets
  }

  // How long after its last frame was captured a packet is sent, in frames.
  private static func wait(_ packet: SentPacket, after first: SentPacket) -> Int {
    let said = Int(packet.timestamp &- first.timestamp) + 240
    return Int((packet.at * 48).rounded()) - said
  }

  @Test(arguments: [StreamConfiguration.Codec.opus, .pcma])
  func packetsEndWithAMicrophonesBlockAfterAPause(codec: StreamConfiguration.Codec) throws {
    let packets = try Self.sent(first: 72, codec)
    let first = try #require(packets.first)
    let ticks: UInt32 = codec == .opus ? 240 : 40
    let steps = zip(packets, packets.dropFirst()).map { $1.timestamp &- $0.timestamp }
    let jumps = steps.indices.filter { steps[$0] != ticks }
    #expect(jumps.count == 1)
    let jump = try #require(jumps.first)
    #expect(steps[jump] == ticks * 312 / 240)
    #expect((2_200...2_215).contains(packets[jump + 1].at), "once the pause is long enough")
    guard codec == .opus else { return }
    #expect(Self.wait(packets[jump], after: first) == 72)
    #expect(Self.wait(packets[jump + 1], after: first) == 0)
    #expect(try Self.wait(#require(packets.last), after: first) == 0)
  }

  @Test func packetsThatEndWithABlockAreLeftAlone() throws {
    let packets = try Self.sent(first: 0)
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $1.timestamp &- $0.timestamp == 240 })
  }

  @Test(arguments: [(72, 120), (192, 240)])
  func nothingIsConcealedForIt(first: Int, block: Int) throws {
    var scene = try PacketScene()
    scene.play(try Self.sent(first: first, block: block), until: 3_900)
    let counted = scene.count()
    #expect(counted.concealed == 0 && counted.late == 0, "\(counted)")
    #expect(scene.loudness(from: 2_100, to: 2_450) < 0.001)
    #expect(scene.loudness(from: 2_700, to: 3_700) > 0.8)
  }

  // A step in a quiet tone is a corner that is sharper than the tone's own.
  @Test func jointIsSmooth() throws {
    func sharpestCorner(first: Int) throws -> Float {
      var scene = try PacketScene()
      let packets = try Self.sent(first: first) { Float(0.009 * sin(Double($0) * 0.026)) }
      scene.play(packets, until: 2_400)
      let heard = scene.heard[Int(2_150 * 48)..<Int(2_400 * 48)]
      return zip(zip(heard, heard.dropFirst()), heard.dropFirst(2))
        .map { abs($0.0 - 2 * $0.1 + $1) }.max() ?? 0
    }
    let joined = try sharpestCorner(first: 72)
    let smooth = try sharpestCorner(first: 0)
    #expect(joined < smooth + 0.000_2, "\(joined) and \(smooth)")
  }
}
