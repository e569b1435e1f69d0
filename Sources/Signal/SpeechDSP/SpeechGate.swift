import MediaCore

/// Detects speech over a steady background by its level alone.
///
/// The background is the least level of the last two to four seconds: speech has gaps, and even
/// steady noise that is loud at low frequencies fluctuates by a few decibels.
///
/// A value without I/O.
struct SpeechGate {
  /// Power of the last 50 ms or so.
  private var power: Float = 0
  /// Least power in the present span and in the one before.
  private var least = Float.infinity
  private var formerLeast = Float.infinity
  private var spanFrames = 0
  /// Frames until the power is that of the sound: it begins at 0.
  private var unsettledFrames = 9_600

  /// Time constant of the power, and length of a span, in frames at 48 kHz.
  private static var smoothingFrames: Float { @_noAllocation @_noLocks get { 2_400 } }
  private static var longestSpan: Int { @_noAllocation @_noLocks get { 96_000 } }
  /// Ratio of speech to background, 10 dB; pink noise has 6 dB at most.
  private static var ratio: Float { @_noAllocation @_noLocks get { 10 } }

  /// Least background, -70 dBFS of 16 bits: a microphone that is switched off has none.
  private static var floor: Float { @_noAllocation @_noLocks get { 100 } }

  @_noAllocation @_noLocks
  init() {}

  /// Notes a block of so many frames and its mean power; true if it is speech by its level.
  @_noAllocation @_noLocks
  mutating func isSpeech(_ blockPower: Float, frames: Int) -> Bool {
    let share = min(1, Float(frames) / Self.smoothingFrames)
    power += share * (blockPower - power)
    if unsettledFrames > 0 {
      unsettledFrames -= frames
      return false
    }
    spanFrames += frames
    if spanFrames >= Self.longestSpan {
      formerLeast = least
      least = power
      spanFrames = 0
    }
    least = min(least, power)
    return power > Self.ratio * max(Self.floor, min(least, formerLeast))
  }
}
