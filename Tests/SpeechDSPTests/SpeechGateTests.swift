import MediaCore
import Testing

@testable import SpeechDSP

/// Speech and background by their level alone.
struct SpeechGateTests {
  private var gate = SpeechGate()

  /// Feeds a level in decibels for so many seconds, in blocks of 5 ms; returns the share of speech.
  private mutating func share(_ power: Float, seconds: Double) -> Double {
    let count = Int(seconds * 200)
    let speech = (0..<count).count { _ in gate.isSpeech(1_000 * power, frames: 240) }
    return Double(speech) / Double(count)
  }

  @Test mutating func steadySoundIsNeverSpeech() {
    #expect(share(1, seconds: 10) == 0)
    #expect(share(0, seconds: 10) == 0)
  }

  /// A microphone that was switched off has no background: what it hears then is not all speech.
  @Test mutating func silenceIsNoBackground() {
    _ = share(0, seconds: 3)
    #expect(share(0.5, seconds: 5) == 0)
  }

  @Test mutating func soundAboveTheBackgroundIs() {
    _ = share(1, seconds: 1)
    #expect(share(30, seconds: 1) > 0.9)
    _ = share(1, seconds: 1)
    #expect(share(5, seconds: 1) == 0)
  }

  /// Sound that goes on without a gap is the background from then on.
  @Test mutating func louderBackgroundIsLearnedWithinFourSeconds() {
    _ = share(1, seconds: 3)
    _ = share(100, seconds: 4)
    #expect(share(100, seconds: 1) == 0)
    #expect(share(2_000, seconds: 1) > 0.9)
  }
}
