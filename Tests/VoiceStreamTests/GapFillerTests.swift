import MediaCore
import Playout
import Testing

@testable import VoiceStream

@Suite struct GapFillerTests {
  /// Sound that is sent before and after a gap.
  enum Sound: CaseIterable {
    case speech, noise
  }

  /// Peak amplitude of uniform noise at -57 dBFS.
  private static let noise: Float = 0.00245

  private static func packets(of sound: Sound, frames: Int, usesDTX: Bool) throws -> [SentPacket] {
    try PacketScene.voice(
      seconds: 8,
      frames: frames,
      silentFrom: sound == .noise ? 0 : 3,
      to: sound == .noise ? .infinity : 7,
      noise: noise,
      usesDTX: usesDTX,
      complexity: 10
    )
  }

  /// Concealment in an outage of 450 ms, measured before the voice comes back.
  @Test(arguments: [120, 240, 480, 960, 1_920, 2_880], Sound.allCases)
  func outageFadesToTheBackground(frames: Int, sound: Sound) throws {
    // Speech breaks off in the middle of a word, 200 ms after it began again.
    let begin = sound == .speech ? 7_200.0 : 5_000
    let packets = try Self.packets(of: sound, frames: frames, usesDTX: false)
      .filter { !(begin..<begin + 450).contains($0.at) }
    var scene = try PacketScene()
    scene.play(packets, until: begin + 440)
    let gap = begin + 5 + Double(frames) / 48
    let before = scene.loudest(from: gap - 200, to: gap)
    let first = scene.loudest(from: gap, to: gap + 200)
    let rest = scene.loudest(from: gap + 200, to: begin + 440)
    let level = scene.level(from: gap + 200, to: begin + 440)
    print("\(sound), \(frames) frames: \(before), then \(first), \(rest), mean \(level) dBFS")
    #expect(first <= before + 1.5 && rest <= before)
    let background = scene.level(from: begin - 2_000, to: begin - 300)
    #expect(abs(level - background + 1.5) < 1.5, "a background of \(background) dBFS")
  }

  @Test(arguments: [120, 240, 480, 960, 1_920, 2_880])
  func pauseHasTheBackgroundOfTheFarSide(frames: Int) throws {
    let packets = try Self.packets(of: .speech, frames: frames, usesDTX: true)
    var scene = try PacketScene()
    scene.play(packets, until: 8_000)
    let before = scene.loudest(from: 3_200, to: 3_400)
    let pause = scene.loudest(from: 3_500, to: 6_900)
    let level = scene.level(from: 3_500, to: 6_900)
    let background = scene.level(from: 3_200, to: 3_400)
    print("\(frames) frames: \(before), then \(pause), mean \(level) dBFS")
    #expect(pause <= before + 1.5)
    #expect(abs(level - background + 1.5) < 1.5, "a background of \(background) dBFS")
    #expect(scene.loudness(from: 7_300, to: 7_900) > 0.5, "the voice comes back")
  }

  /// G.711's concealment is over after 60 ms.
  @Test(arguments: [StreamConfiguration.Codec.pcmu, .pcma])
  func telephoneVoiceHasABackgroundToo(codec: StreamConfiguration.Codec) throws {
    let packets = try PacketScene.voice(
      seconds: 6,
      codec: codec,
      frames: 960,
      silentFrom: 0,
      noise: 0.01
    )
    var scene = try PacketScene { $0.codec = codec }
    scene.play(packets.filter { !(5_000..<5_900).contains($0.at) }, until: 5_890)
    let before = scene.level(from: 4_000, to: 5_000)
    let outage = scene.level(from: 5_100, to: 5_890)
    #expect(abs(outage - before + 1.5) < 1.5, "\(before) and \(outage) dBFS")
  }

  /// libopus 1.3.1 makes what follows a gap up to 17 dB too loud.
  @Test(arguments: [120, 240, 480, 960])
  func nothingAfterAGapIsLouderThanTheVoice(frames: Int) throws {
    let packets = try Self.packets(of: .speech, frames: frames, usesDTX: false)
    var whole = try PacketScene()
    whole.play(packets, until: 8_000)
    let loudest = whole.loudest(from: 500, to: 8_000)
    for seed in 1...12 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var isLost = false
      let arriving = packets.filter { _ in
        isLost = Int.random(in: 0..<100, using: &random) < (isLost ? 75 : 4)
        return !isLost
      }
      var scene = try PacketScene()
      scene.play(arriving, until: 8_000)
      let heard = scene.loudest(from: 500, to: 8_000)
      #expect(heard < loudest + 2)
    }
  }

  /// A far side that was quiet so far, on a network that loses a packet every 25 ms.
  @Test func firstWordsOfAQuietFarSideAreHeard() throws {
    let packets = try PacketScene.voice(
      seconds: 8,
      frames: 120,
      silentFrom: 0,
      to: 5,
      noise: Self.noise,
      complexity: 10
    )
    var scene = try PacketScene()
    scene.play(packets.enumerated().filter { $0.offset % 10 != 0 }.map(\.element), until: 8_000)
    #expect(scene.loudness(from: 6_000, to: 7_900) > 0.5)
  }
}
