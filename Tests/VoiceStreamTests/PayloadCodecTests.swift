import Foundation
import MediaCore
import Testing

@testable import VoiceStream

struct PayloadCodecTests {
  /// A chirp from 300 Hz to 3 kHz in noise-free silence, which no other place resembles.
  private static let sound: [Float] = {
    let chirp = (0..<9_600).map { index in
      let time = Double(index) / 48_000
      let window = sin(Double.pi * Double(index) / 9_600)
      return Float(0.4 * window * sin(2 * Double.pi * (300 + 6_750 * time) * time))
    }
    let silence = [Float](repeating: 0, count: 19_200)
    return silence + chirp + silence
  }()

  /// Position of `sound` in the decoded sound: the lag of the highest correlation, in frames.
  private static func lag(of heard: [Float]) -> Int? {
    let likeness = (0..<960).map { lag in
      (19_200..<28_800).reduce(Float(0)) { $0 + sound[$1] * heard[$1 + lag] }
    }
    return likeness.indices.max { likeness[$0] < likeness[$1] }
  }

  /// The reported delay is the real one.
  @Test(arguments: [
    (StreamConfiguration.Codec.opus, 120), (.opus, 480), (.opus, 960), (.pcmu, 480), (.pcma, 960),
  ])
  func lookAheadIsTheDelayOfTheCodec(
    codec: StreamConfiguration.Codec,
    frames: FrameCount
  ) throws {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1)
    configuration.codec = codec
    configuration.packetFrames = frames
    configuration.bitrate = 128_000
    let plan = SendingPlanner(configuration).plan
    var encoder = try PayloadEncoder(configuration, plan)
    var decoder = try PayloadDecoder(configuration)
    let samples = SampleBuffer(Self.sound)
    var packet = ByteBuffer(repeating: 0, count: 1_500)
    var block = SampleBuffer(repeating: 0, count: 5_760)
    var heard: [Float] = []
    var said = 0
    for start in stride(from: 0, to: Self.sound.count - frames, by: frames) {
      said += frames
      let length = encoder.encode(samples, from: start, frames: frames, into: &packet, at: 0)
      let count = decoder.decode(packet, in: 0..<length, into: &block)
      heard += (0..<count).map { block[$0] }
    }
    let expected = encoder.lookAhead(of: plan.application)
    // What an encoder keeps back comes that much later.
    let lag = try #require(Self.lag(of: heard)) + said - heard.count
    print("\(codec), \(frames) frames: \(lag) frames late, \(expected) shown")
    // Half a millisecond.
    #expect(abs(lag - expected) <= 24)
  }
}
