import Foundation
import MediaCore
import Testing

@testable import SpeechDSP

/// The converter between a card's rate and the codec's.
struct FixedRateResamplerTests {
  private static let tone = 440.0

  /// A second of a sine at the given rate, amplitude one half.
  private static func sine(_ rate: SampleRate) -> SampleBuffer {
    var samples = SampleBuffer(repeating: 0, count: rate.hertz)
    for index in 0..<rate.hertz {
      samples[index] = Float(0.5 * sin(2 * .pi * tone * Double(index) / Double(rate.hertz)))
    }
    return samples
  }

  private static func convert(
    from input: SampleRate,
    to output: SampleRate,
    blocks: Int
  ) throws -> [Float] {
    var resampler = try FixedRateResampler(from: input, to: output)
    let sound = sine(input)
    var converted = SampleBuffer(repeating: 0, count: output.hertz + 100)
    var (consumed, produced) = (0, 0)
    while consumed < sound.count {
      let conversion = resampler.convert(
        sound,
        from: consumed,
        count: min(blocks, sound.count - consumed),
        into: &converted,
        at: produced
      )
      guard conversion.consumed > 0 || conversion.produced > 0 else { break }
      consumed += conversion.consumed
      produced += conversion.produced
    }
    return (0..<produced).map { converted[$0] }
  }

  @Test(arguments: [8_000, 16_000, 44_100, 48_000, 96_000])
  func aSecondStaysASecondAndAToneStaysATone(hertz: Int) throws {
    let rate = SampleRate(hertz: hertz)
    for (from, to) in [(rate, SampleRate.voice), (.voice, rate)] {
      let samples = try Self.convert(from: from, to: to, blocks: 480)
      let produced = samples.count
      // The filter keeps back its look-ahead: half of 80 taps at the lower rate, whose number is
      // rounded up to a multiple of 8.
      let lookAhead = Double(40 + 4) * max(1, Double(to.hertz) / Double(from.hertz))
      #expect(Double(abs(produced - to.hertz)) <= lookAhead)
      // Away from both ends the samples are those of the same tone.
      var error = 0.0
      for index in produced / 4..<produced / 2 {
        let time = Double(index) / Double(to.hertz)
        error = max(error, abs(Double(samples[index]) - 0.5 * sin(2 * .pi * Self.tone * time)))
      }
      #expect(error < 0.01, "\(from.hertz) to \(to.hertz): off by \(error)")
    }
  }

  @Test func blocksOfAnySizeGiveTheSameSamples() throws {
    let rate = SampleRate(hertz: 44_100)
    let whole = try Self.convert(from: rate, to: .voice, blocks: 44_100)
    for blocks in [1, 63, 128, 441] {
      let parts = try Self.convert(from: rate, to: .voice, blocks: blocks)
      let isSame = parts == whole
      #expect(isSame, "blocks of \(blocks)")
    }
  }

  @Test func aFullOutputLeavesTheRestOfTheInput() throws {
    var resampler = try FixedRateResampler(from: SampleRate(hertz: 16_000), to: .voice)
    let sound = Self.sine(SampleRate(hertz: 16_000))
    var output = SampleBuffer(repeating: 0, count: 240)
    let conversion = resampler.convert(sound, count: 480, into: &output, at: 0)
    #expect(conversion.produced == 240 && conversion.consumed < 480)
    let none = resampler.convert(sound, count: 480, into: &output, at: 240)
    #expect(none.produced == 0)
  }
}
