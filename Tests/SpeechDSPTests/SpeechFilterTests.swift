import Foundation
import MediaCore
import Simulation
import Testing

@testable import SpeechDSP

/// SpeexDSP's filters on blocks of a microphone.
struct SpeechFilterTests {
  /// As in a call (`CaptureChain`).
  private static let blockFrames = 240

  private static func energy(_ block: borrowing SampleBuffer) -> Double {
    (0..<block.count).reduce(0) { $0 + Double(block[$1]) * Double(block[$1]) }
  }

  /// Output energy over input energy, in seconds 3 to 5.
  private static func remainder(
    _ settings: SpeechFilterSettings,
    _ make: (_ block: Int, _ microphone: inout SampleBuffer, _ far: inout SampleBuffer) -> Void
  ) throws -> Double {
    var filter = try SpeechFilter(settings, blockFrames: blockFrames)
    var microphone = SampleBuffer(repeating: 0, count: blockFrames)
    var far = SampleBuffer(repeating: 0, count: blockFrames)
    var (before, after) = (0.0, 0.0)
    for block in 0..<240_000 / blockFrames {
      make(block, &microphone, &far)
      let energy = Self.energy(microphone)
      filter.process(&microphone, far: far)
      if block >= 144_000 / blockFrames {
        (before, after) = (before + energy, after + Self.energy(microphone))
      }
    }
    return after / before
  }

  /// Uniform noise up to `level`, the same in every run.
  private struct Noise {
    var generator = SeededGenerator(seed: 1)
    let level: Float

    mutating func fill(_ block: inout SampleBuffer) {
      for index in 0..<block.count {
        block[index] = Float.random(in: -level...level, using: &generator)
      }
    }
  }

  // 40 dB is a hundredth of the amplitude: an echo that is inaudible in a pause. A loudspeaker that
  // distorts makes an echo that no linear canceller can take out.
  @Test(arguments: [false, true])
  func theLoudspeakersSoundIsTakenOutOfTheMicrophones(distorts: Bool) throws {
    var noise = Noise(level: 0.3)
    var earlier = SampleBuffer(repeating: 0, count: Self.blockFrames)
    let left = try Self.remainder(SpeechFilterSettings(echoCancellation: true)) { _, near, far in
      noise.fill(&far)
      // The echo is half as loud and 5 ms late.
      for index in 0..<Self.blockFrames {
        let place = index - 240
        let sound = place < 0 ? earlier[Self.blockFrames + place] : far[place]
        near[index] = 0.5 * (distorts ? sound - sound * sound * sound : sound)
      }
      earlier.copy(from: far, count: Self.blockFrames)
    }
    print("\(10 * log10(left)) dB of the echo are left")
    #expect(left < (distorts ? 0.001 : 0.000_1))
  }

  @Test func theUsersVoicePassesTheEchoCanceller() throws {
    var noise = Noise(level: 0.2)
    let left = try Self.remainder(SpeechFilterSettings(echoCancellation: true)) { _, near, far in
      noise.fill(&near)
      far.fill(0, count: Self.blockFrames)
    }
    #expect(left > 0.8 && left < 1.25)
  }

  // SpeexDSP is asked for 15 dB; its gains are smoothed, so some of that is missing.
  @Test func steadyNoiseIsLoweredByAboutFifteenDecibels() throws {
    var noise = Noise(level: 0.05)
    let left = try Self.remainder(SpeechFilterSettings(noiseSuppression: true)) { _, near, _ in
      noise.fill(&near)
    }
    let decibels = 10 * log10(left)
    #expect(decibels < -8 && decibels > -20, "\(decibels) dB")
  }

  /// Without speech there is no level to even out, so that noise is not amplified.
  @Test(arguments: [Float(0.0055), 0.02], [false, true])
  func noiseAloneIsNotBroughtUp(level: Float, isPink: Bool) throws {
    var noise = Noise(level: level)
    // Each octave is renewed half as often as the one above: the power falls by 3 dB an octave.
    var octaves = [Float](repeating: 0, count: 12)
    let gain = try Self.remainder(SpeechFilterSettings(gainControl: true)) { block, near, _ in
      noise.fill(&near)
      guard isPink else { return }
      for index in 0..<Self.blockFrames {
        let frame = block * Self.blockFrames + index + 1
        octaves[min(octaves.count - 1, frame.trailingZeroBitCount)] = near[index]
        near[index] = octaves.reduce(0, +) / 4
      }
    }
    print("noise is louder by \(10 * log10(gain)) dB")
    #expect(gain < 2, "louder by \(10 * log10(gain)) dB")
  }

  @Test func quietSpeechIsBroughtUp() throws {
    var noise = Noise(level: 0.02)
    // Syllables: a fifth of a second of sound, then as long a pause.
    let gain = try Self.remainder(SpeechFilterSettings(gainControl: true)) { block, near, _ in
      noise.fill(&near)
      for index in 0..<Self.blockFrames {
        let time = Double(block * Self.blockFrames + index) / 48_000
        let tone = 0.02 * sin(2 * .pi * 200 * time) * (Int(time * 5) % 2 == 0 ? 1 : 0)
        near[index] = near[index] * 0.01 + Float(tone)
      }
    }
    #expect(gain > 2, "louder by \(10 * log10(gain)) dB")
  }

  @Test func withoutFiltersABlockIsWhatItWas() throws {
    var filter = try SpeechFilter(SpeechFilterSettings(), blockFrames: Self.blockFrames)
    var noise = Noise(level: 0.9)
    var block = SampleBuffer(repeating: 0, count: Self.blockFrames)
    noise.fill(&block)
    let before = (0..<block.count).map { block[$0] }
    let far = SampleBuffer(repeating: 0, count: Self.blockFrames)
    filter.process(&block, far: far)
    // 16 bits, as SpeexDSP wants them.
    let isSame = (0..<block.count).allSatisfy { abs(block[$0] - before[$0]) <= 1 / 32_768 }
    #expect(isSame && SpeechFilterSettings().isEmpty)
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity, 1e9, -1e9])
  func soundThatIsNoneIsLimitedAndNeverTraps(sample: Float) throws {
    let all = SpeechFilterSettings(
      echoCancellation: true,
      noiseSuppression: true,
      gainControl: true
    )
    for blockFrames in [120, 240, 480, 960] {
      var filter = try SpeechFilter(all, blockFrames: blockFrames)
      let far = SampleBuffer(repeating: sample, count: blockFrames)
      for _ in 0..<50 {
        var block = SampleBuffer(repeating: sample, count: blockFrames)
        filter.process(&block, far: far)
        #expect(block.peak(count: blockFrames) <= 1)
      }
      filter.resetEchoPath()
    }
  }
}
