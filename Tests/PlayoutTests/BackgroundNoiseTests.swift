import Foundation
import MediaCore
import Testing

@testable import Playout

@Suite struct BackgroundNoiseTests {
  /// Noise at `level` dBFS, through a one-pole low-pass filter of coefficient `tilt` (1:
  /// unfiltered).
  private static func noise(seconds: Double, level: Float, tilt: Float, seed: UInt64) -> [Float] {
    var random = SeededGenerator(seed: seed)
    var past: Float = 0
    let samples = (0..<Int(seconds * 48_000)).map { _ in
      past += tilt * (Float.random(in: -1...1, using: &random) - past)
      return past
    }
    let gain = pow(10, level / 20) / power(samples).squareRoot()
    return samples.map { $0 * gain }
  }

  private static func power(_ samples: some Collection<Float>) -> Float {
    samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)
  }

  private static func decibels(_ samples: some Collection<Float>) -> Float {
    10 * log10(max(1e-12, power(samples)))
  }

  private static func made(after samples: [Float], frames: Int = 96_000) -> [Float] {
    var background = BackgroundNoise()
    for start in stride(from: 0, to: samples.count - 479, by: 480) {
      background.learn(SampleBuffer(Array(samples[start..<start + 480])), count: 480)
    }
    var sound = SampleBuffer(repeating: 1, count: frames)
    background.make(into: &sound, count: frames)
    return (0..<frames).map { sound[$0] }
  }

  /// Level of the differences between neighbouring samples, relative to that of the samples, in dB.
  ///
  /// It expresses the colour of a noise as one figure.
  private static func colour(_ samples: [Float]) -> Float {
    decibels(zip(samples, samples.dropFirst()).map { $1 - $0 }) - decibels(samples)
  }

  @Test(arguments: [(-57, 1), (-57, 0.1), (-45, 0.3), (-70, 0.02)] as [(Float, Float)])
  func noiseIsAsLoudAndOfTheSameColour(level: Float, tilt: Float) {
    let heard = Self.noise(seconds: 4, level: level, tilt: tilt, seed: 3)
    let made = Self.made(after: heard)
    #expect(abs(Self.decibels(made) - (level - 1.5)) < 2, "\(Self.decibels(made))")
    #expect(abs(Self.colour(made) - Self.colour(heard)) < 1.5)
    let loudest = { (samples: [Float]) in
      stride(from: 0, to: samples.count - 239, by: 240).map { Self.power(samples[$0..<$0 + 240]) }
        .max() ?? 0
    }
    #expect(loudest(made) < 1.3 * loudest(heard))
  }

  /// Words with pauses of 100 ms: only the background between them is learned.
  @Test func wordsAreNotLearned() {
    let background = Self.noise(seconds: 6, level: -55, tilt: 0.2, seed: 5)
    let words = background.indices.map { index -> Float in
      let second = Double(index) / 48_000
      let isWord = second.truncatingRemainder(dividingBy: 0.6) < 0.5
      return background[index] + (isWord ? 0.2 * Float(sin(second * 2 * .pi * 180)) : 0)
    }
    let made = Self.made(after: words)
    #expect(abs(Self.decibels(made) + 56.5) < 2.5, "\(Self.decibels(made))")
  }

  @Test func louderBackgroundIsLearnedWithinThreeSeconds() {
    let before = Self.noise(seconds: 5, level: -65, tilt: 0.2, seed: 7)
    let after = Self.noise(seconds: 3.2, level: -48, tilt: 0.2, seed: 8)
    #expect(abs(Self.decibels(Self.made(after: before + after)) + 49.5) < 2.5)
  }

  @Test func silenceStaysSilenceAndMusicIsNoBackground() {
    #expect(Self.made(after: Array(repeating: 0, count: 96_000)).allSatisfy { $0 == 0 })
    #expect(Self.made(after: []).allSatisfy { $0 == 0 }, "nothing is known yet")
    let tone = (0..<192_000).map { Float(0.3 * sin(Double($0) * 0.05)) }
    let made = Self.made(after: tone)
    #expect(Self.decibels(made) < -40 && made.allSatisfy { $0.isFinite })
  }

  @Test func anotherSourceHasABackgroundOfItsOwn() {
    var background = BackgroundNoise()
    let heard = Self.noise(seconds: 1, level: -50, tilt: 1, seed: 9)
    background.learn(SampleBuffer(heard), count: heard.count)
    background.restart()
    var sound = SampleBuffer(repeating: 1, count: 480)
    background.make(into: &sound, count: 480)
    #expect(sound.peak(count: 480) == 0)
  }
}
