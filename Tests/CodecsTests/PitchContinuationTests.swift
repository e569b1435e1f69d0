import Foundation
import MediaCore
import Testing

@testable import Codecs

struct PitchContinuationTests {
  private static let count = PitchContinuation.historyCount

  /// `count` samples of a voice of `hertz` that goes up by `rise` of it in a second, from `start`
  /// on.
  private static func voice(
    _ hertz: Double,
    rise: Double = 0,
    from start: Int = 0,
    count: Int
  ) -> [Float] {
    (start..<start + count).map { index in
      let second = Double(index) / 8_000
      let phase = 2 * .pi * hertz * second * (1 + rise * second / 2)
      return Float((1...8).reduce(0) { $0 + sin(Double($1) * phase) / Double($1) } / 4)
    }
  }

  private static func continued(_ said: [Float], count: Int) -> [Float] {
    var continuation = PitchContinuation()
    continuation.begin(after: SampleBuffer(said))
    return (0..<count).map { _ in continuation.next() }
  }

  private static func power(_ samples: some Sequence<Float>) -> Float {
    samples.reduce(0) { $0 + $1 * $1 }
  }

  @Test(arguments: [75.0, 100, 125.5, 160, 195])
  func steadyVoiceGoesOnAsItWouldHave(hertz: Double) {
    let whole = Self.voice(hertz, count: Self.count + 80)
    let heard = Self.continued(Array(whole[..<Self.count]), count: 80)
    let error = Self.power(zip(heard, whole[Self.count...]).map { $0 - $1 })
    #expect(error < 0.1 * Self.power(whole[Self.count...]))
  }

  @Test func voiceFadesWithin60Milliseconds() {
    let said = Self.voice(110, count: Self.count)
    let heard = Self.continued(said, count: 640)
    let tenths = stride(from: 0, to: 640, by: 80).map { Self.power(heard[$0..<$0 + 80]) }
    #expect(zip(tenths, tenths.dropFirst()).allSatisfy { $1 <= $0 * 1.1 })
    #expect(tenths[2] > 0.2 * tenths[0] && heard[480...].allSatisfy { $0 == 0 })
  }

  @Test(arguments: [80.0, 120, 180])
  func noStepIsHeardWhereTheVoiceChangesItsPitch(hertz: Double) {
    let said = Self.voice(hertz, rise: 1.5, count: Self.count)
    let heard = Self.continued(said, count: 480)
    let sound = said + heard
    let steps = zip(sound, sound.dropFirst()).map { abs($0 - $1) }
    let natural = steps[..<(Self.count - 1)].max() ?? 0
    #expect(steps[(Self.count - 1)...].allSatisfy { $0 < 1.2 * natural })
  }

  @Test func silenceStaysSilenceAndNoiseStaysWithinItsBounds() {
    let silence = Self.continued([Float](repeating: 0, count: Self.count), count: 480)
    #expect(silence.allSatisfy { $0 == 0 })
    var state: UInt32 = 7
    let noise = (0..<Self.count).map { _ -> Float in
      state = state &* 1_664_525 &+ 1_013_904_223
      return Float(state >> 8) / Float(1 << 24) - 0.5
    }
    let heard = Self.continued(noise, count: 480)
    #expect(heard.allSatisfy { abs($0) < 1 } && Self.power(heard[..<80]) > 1)
  }
}
