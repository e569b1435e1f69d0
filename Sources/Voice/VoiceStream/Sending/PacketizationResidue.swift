import MediaCore

/// Finds captured samples that are left over after each packet, and a pause to drop them in.
///
/// Packets that end within a block of the microphone's, as they do after an encoder that looks less
/// far ahead has taken over, leave a part of each block behind that waits for the next one. What
/// was left behind every time for a second is delay and no more: without it each packet would leave
/// just as late, with newer sound in it.
struct PacketizationResidue: Sendable, BitwiseCopyable {
  /// Less is not worth a joint: half a millisecond.
  private static var worthwhile: FrameCount { @_noAllocation @_noLocks get { 24 } }
  /// The far side would conceal a longer gap, since decoders conceal 2.5 ms at least.
  private static var unnoticed: FrameCount { @_noAllocation @_noLocks get { 119 } }
  private static var proof: FrameCount { @_noAllocation @_noLocks get { 48_000 } }
  /// What is shorter belongs to a sentence, of which one part would be shifted against another.
  private static var pause: FrameCount { @_noAllocation @_noLocks get { 9_600 } }
  /// -40 dBFS: noise of -54 dBFS stays below that for as long.
  private static var silencePeak: Float { @_noAllocation @_noLocks get { 0.01 } }

  private var least = FrameCount.max
  private var watched: FrameCount = 0
  private var quiet: FrameCount = 0

  /// Nothing is known yet.
  @_noAllocation @_noLocks
  init() {}

  /// Whether there is a constant remainder to drop in the next pause.
  var isKnown: Bool {
    @_noAllocation @_noLocks get { watched >= Self.proof }
  }

  /// Takes in that `pending` frames were left when a block of `count` came.
  @_noAllocation @_noLocks
  mutating func note(pending: FrameCount, before count: FrameCount) {
    guard pending >= Self.worthwhile else { return self = PacketizationResidue() }
    // As long as it becomes less there is no telling how little it will be.
    if pending < least { (least, watched) = (pending, 0) }
    watched = min(watched + count, Self.proof)
  }

  /// How many of the pending frames to leave out now that a block of `count` with this peak, 0 to
  /// 1, has come; nil if no constant remainder is known, or the signal is not silent.
  @_noAllocation @_noLocks
  mutating func take(afterBlockOf count: FrameCount, peak: Float) -> FrameCount? {
    quiet = peak <= Self.silencePeak ? quiet + count : 0
    guard isKnown, quiet >= Self.pause else { return nil }
    let taken = min(least, Self.unnoticed)
    self = PacketizationResidue()
    return taken
  }
}
