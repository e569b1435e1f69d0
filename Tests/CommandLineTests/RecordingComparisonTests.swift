import Foundation
import MediaCore
import Testing

@testable import CommandLine

struct RecordingComparisonTests {
  /// Syllables of different tones and lengths, as different from each other as two voices are.
  private static func speech(_ seed: UInt64, seconds: Int, rate: Int = 8_000) -> [Float] {
    var random = SeededGenerator(seed: seed)
    var samples: [Float] = []
    while samples.count < seconds * rate {
      let hertz = Double.random(in: 120...900, using: &random)
      let length = Int.random(in: rate / 10...rate / 3, using: &random)
      samples += (0..<length).map { index in
        let phase = 2 * Double.pi * hertz * Double(index) / Double(rate)
        let envelope = sin(Double.pi * Double(index) / Double(length))
        return Float(0.4 * envelope * (sin(phase) + 0.5 * sin(2.7 * phase)))
      }
      samples += [Float](repeating: 0, count: Int.random(in: 0...rate / 8, using: &random))
    }
    return Array(samples.prefix(seconds * rate))
  }

  private func compare(_ said: [Float], _ heard: [Float], _ rate: Int = 8_000)
    -> RecordingComparison
  {
    RecordingComparison(said: said, saidRate: 8_000, heard: heard, heardRate: rate)
  }

  private static let said = speech(1, seconds: 6)

  @Test(arguments: [0, 37, 850])
  func theSameSpeechIsFoundWithItsDelay(milliseconds: Int) throws {
    let silence = [Float](repeating: 0, count: milliseconds * 8)
    let comparison = compare(Self.said, silence + Self.said + [Float](repeating: 0, count: 8_000))
    #expect(comparison.heardShare == 1 && comparison.similarity > 0.99)
    let delay = try #require(comparison.delayMilliseconds)
    #expect(abs(delay - Double(milliseconds)) < 0.5)
    #expect(comparison.segments >= 8)
  }

  @Test func aRecordingMayBeginLater() throws {
    let comparison = compare(Self.said, Array(Self.said.dropFirst(1_600)))
    let delay = try #require(comparison.delayMilliseconds)
    #expect(abs(delay - -200) < 0.5 && comparison.heardShare > 0.8)
  }

  @Test func ratesMayDiffer() {
    let heard = Self.said.flatMap { [Float](repeating: $0, count: 6) }
    #expect(compare(Self.said, heard, 48_000).heardShare == 1)
  }

  @Test func anotherVoiceIsNotThisOne() {
    let comparison = compare(Self.said, Self.speech(2, seconds: 7))
    #expect(comparison.heardShare < 0.3 && comparison.similarity < 0.5, "\(comparison)")
  }

  @Test func halfOfTheSpeechIsHalfHeard() {
    let half = Array(Self.said.prefix(24_000)) + [Float](repeating: 0, count: 24_000)
    let comparison = compare(Self.said, half)
    #expect((0.35...0.65).contains(comparison.heardShare), "\(comparison)")
  }

  @Test func levelsDoNotMatter() {
    #expect(compare(Self.said, Self.said.map { $0 / 20 }).heardShare == 1)
  }

  private static let silence = [Float](repeating: 0, count: 8_000)

  /// A beep or a key is louder than all speech, and lasts for a moment.
  @Test func aBeepIsNotAllThatIsSaid() {
    let beep = (0..<8_000).map { 0.9 * Float(sin(0.25 * Double.pi * Double($0))) }
    let speech = Self.speech(3, seconds: 28).map { $0 / 15 }
    let said = beep + Self.silence + speech
    let lost = compare(said, beep + [Float](repeating: 0, count: said.count))
    #expect(lost.heardShare < 0.2 && lost.segments > 30, "\(lost)")
    #expect(compare(said, said).heardShare == 1)
    let late = compare(said, [Float](repeating: 0, count: 40_000) + speech)
    #expect(late.heardShare > 0.9, "\(late)")
  }

  @Test(arguments: [3, 8]) func aQuietCopyBetweenLouderVoicesIsFound(seconds: Int) {
    let said = Self.speech(1, seconds: seconds)
    let others = [4, 5].map { Self.speech($0, seconds: 6) }
    let heard = others[0] + Self.silence + said.map { $0 / 2 } + Self.silence + others[1]
    let comparison = compare(said, heard)
    #expect(comparison.heardShare > 0.9, "\(comparison)")
  }

  @Test(arguments: [[], [Float](repeating: 0, count: 40_000), [Float](repeating: 0.1, count: 9)])
  func nothingIsFoundInNothing(heard: [Float]) {
    let comparison = compare(Self.said, heard)
    #expect(comparison.heardShare == 0 && comparison.delayMilliseconds == nil)
  }

  @Test func aRecordingMayBeUpsideDown() {
    let comparison = compare(Self.said, Self.said.map { -$0 })
    #expect(comparison.isInverted && comparison.heardShare == 1, "\(comparison)")
    #expect(!compare(Self.said, Self.said).isInverted)
  }

  @Test func aConstantOffsetIsNoSpeech() {
    let right = compare(Self.said.map { $0 / 10 + 0.4 }, Self.said.map { $0 / 10 + 0.3 })
    #expect(right.heardShare == 1, "\(right)")
    let wrong = compare(
      Self.said.map { $0 / 10 + 0.4 },
      Self.speech(2, seconds: 7).map { $0 / 10 + 0.4 }
    )
    #expect(wrong.heardShare < 0.3, "\(wrong)")
    let silent = compare(Self.said, [Float](repeating: 0.4, count: 48_000))
    #expect(silent.heardShare == 0, "\(silent)")
  }

  /// The sound at places that need be no whole numbers.
  private static func sound(_ samples: [Float], at place: (Int) -> Double) -> [Float] {
    samples.indices.map { index in
      let place = place(index)
      let whole = Int(place)
      guard whole >= 0, whole + 1 < samples.count else { return 0 }
      return samples[whole] + (samples[whole + 1] - samples[whole]) * Float(place - Double(whole))
    }
  }

  /// Two clocks of which one is 200 parts per million slow, and a delay that moves with them.
  @Test func clocksThatDriftApartAreFollowed() throws {
    let said = Self.speech(3, seconds: 300)
    let comparison = compare(said, Self.sound(said) { Double($0) * 1.0002 })
    let drift = try #require(comparison.drift)
    #expect(abs(drift - -200) < 5 && comparison.heardShare > 0.95, "\(comparison)")
  }

  /// A delay that comes and goes lies on no line, so it is no clock's.
  @Test func aDelayThatWandersIsNoDrift() {
    let said = Self.speech(4, seconds: 120)
    // By 5 ms, in ten seconds.
    let heard = Self.sound(said) { Double($0) + 40 * (1 + sin(Double($0) * 2 * .pi / 80_000)) }
    let comparison = compare(said, heard)
    #expect(comparison.drift == nil && comparison.heardShare > 0.9, "\(comparison)")
  }

  /// A jitter buffer that grows is no clock that is slow.
  @Test(arguments: [20, 200]) func aDelayThatJumpsIsNoDrift(milliseconds: Int) throws {
    let said = Self.speech(5, seconds: 120)
    let half = said.count / 2
    let pause = [Float](repeating: 0, count: milliseconds * 8)
    let drift = try #require(compare(said, Array(said[..<half] + pause + said[half...])).drift)
    #expect(abs(drift) < 5)
  }

  /// A jitter buffer may grow at once, and a call be held.
  @Test(arguments: [200, 300, 1_500]) func aDelayThatJumpsIsFollowed(milliseconds: Int) {
    let said = Self.speech(4, seconds: 24)
    let half = said.count / 3
    let gap = [Float](repeating: 0, count: 8 * milliseconds)
    let comparison = compare(said, said.prefix(half) + gap + said.dropFirst(half))
    #expect(comparison.heardShare > 0.7, "\(comparison)")
  }

  /// Some seconds were cut out, or a pause was put in, of any length.
  @Test(arguments: [-10.0, -6, -2.5, 5, 20]) func recordingGoesOnElsewhere(seconds: Double) {
    let said = Self.speech(5, seconds: 30)
    let (place, length) = (80_000, Int(abs(seconds) * 8_000))
    let rest = seconds < 0 ? said.dropFirst(place + length) : said.dropFirst(place)
    let pause = [Float](repeating: 0, count: seconds < 0 ? 0 : length)
    let comparison = compare(said, said.prefix(place) + pause + rest)
    let there = seconds < 0 ? 1 + seconds / 30 : 1
    #expect(comparison.heardShare > there - 0.08, "\(comparison)")
  }

  @Test func aBandWithoutLowTonesIsNotUpsideDown() {
    var level: Float = 0
    let thin = Self.said.map { sample in
      level += 0.2 * (sample - level)
      return sample - level
    }
    #expect(!compare(Self.said, thin).isInverted)
  }

  /// A loop is heard as often as it was recorded, and at its place.
  @Test(arguments: [([true, true, false, false], 0.5), ([true, false, true, false], 0.5)])
  func loopsAreHeardOnce(rounds: [Bool], share: Double) throws {
    let said = rounds.flatMap { _ in Self.said }
    let silence = [Float](repeating: 0, count: Self.said.count)
    let heard = [Float](repeating: 0, count: 1_600) + rounds.flatMap { $0 ? Self.said : silence }
    let comparison = compare(said, heard)
    #expect(abs(comparison.heardShare - share) < 0.1, "\(comparison)")
    #expect(abs(try #require(comparison.delayMilliseconds) - 200) < 1)
  }

  /// A talker who is far away is missed as well.
  @Test func quietTalkerCounts() {
    let quiet = Self.speech(3, seconds: 6).map { $0 / 6 }
    let said = Self.said + quiet
    let silence = [Float](repeating: 0, count: quiet.count)
    let comparison = compare(said, Self.said + silence)
    #expect(abs(comparison.heardShare - 0.5) < 0.1, "\(comparison)")
  }

  /// A telephone without low tones is as like its voice upside down, half a period later.
  @Test(arguments: [Float(1), -1], [300.0, 400])
  func filteredVoicesKeepTheirPolarity(sign: Float, hertz: Double) {
    // Voices have hisses, too. Two filters of the first order.
    var random = SeededGenerator(seed: 5)
    let said = Self.said.map { $0 + Float.random(in: -0.1...0.1, using: &random) }
    let decay = Float(exp(-2 * Double.pi * hertz / 8_000))
    var heard = said
    for _ in 0..<2 {
      var (before, level): (Float, Float) = (0, 0)
      heard = heard.map { sample in
        level = decay * (level + sample - before)
        before = sample
        return level
      }
    }
    let comparison = compare(said, heard.map { sign * $0 })
    #expect(comparison.isInverted == (sign < 0), "\(comparison)")
  }
}
