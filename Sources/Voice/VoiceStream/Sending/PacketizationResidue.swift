import MediaCore

/// Detector of captured samples that are left over after each packet, and of a pause to drop them
/// in.
///
/// Packets that end within a block of the microphone's, as they do after a change to an encoder
/// with less look-ahead, leave a part of each block behind that waits for the next one. A remainder
/// that was left every time for a second is mere delay: without it each packet would leave just as
/// late, with newer sound in it.
struct PacketizationResidue: Sendable, BitwiseCopyable {
  /// Least remainder that is worth a joint: half a millisecond at 48 kHz.
  private static var worthwhile: FrameCount { @_noAllocation @_noLocks get { 24 } }
  /// Most frames dropped at once: the far side would conceal a longer gap, since decoders conceal
  /// at least 2.5 ms.
  private static var unnoticed: FrameCount { @_noAllocation @_noLocks get { 119 } }
  private static var proof: FrameCount { @_noAllocation @_noLocks get { 48_000 } }
  /// Silence that counts as a pause, 200 ms at 48 kHz; within a sentence, one part would be shifted
  /// against another.
  private static var pause: FrameCount { @_noAllocation @_noLocks get { 9_600 } }
  /// Greatest peak that counts as silence, -40 dBFS; noise of -54 dBFS stays below that for a whole
  /// pause.
  private static var silencePeak: Float { @_noAllocation @_noLocks get { 0.01 } }

  private var least = FrameCount.max
  private var watched: FrameCount = 0
  private var quiet: FrameCount = 0

  /// Creates a detector that knows no remainder.
  @_noAllocation @_noLocks
  init() {}

  /// True if there is a constant remainder to drop in the next pause.
  var isKnown: Bool {
    @_noAllocation @_noLocks get { watched >= Self.proof }
  }

  /// Notes that `pending` frames were left when a block of `count` came.
  @_noAllocation @_noLocks
  mutating func note(pending: FrameCount, before count: FrameCount) {
    guard pending >= Self.worthwhile else { return self = PacketizationResidue() }
    // As long as it becomes less there is no telling how little it will be.
    if pending < least { (least, watched) = (pending, 0) }
    watched = min(watched + count, Self.proof)
  }

  /// Returns the number of pending frames to drop after a block of `count` frames with this peak, 0
  /// to 1; nil if no constant remainder is known, or the signal is not silent.
  @_noAllocation @_noLocks
  mutating func take(afterBlockOf count: FrameCount, peak: Float) -> FrameCount? {
    quiet = peak <= Self.silencePeak ? quiet + count : 0
    guard isKnown, quiet >= Self.pause else { return nil }
    let taken = min(least, Self.unnoticed)
    self = PacketizationResidue()
    return taken
  }
}
