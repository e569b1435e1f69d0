import MediaTime

/// Removes the drift between two sound clocks: the ratio at which to resample so that the delay stays at its target.
///
/// What is wrong with the delay now asks for a ratio that mends it with a time constant of two seconds, and of half a
/// second if it is too little: that is heard, too much is not. What is wrong all the time is drift, which is learned over a
/// minute and then needs no error any more. A network whose delay changes is wrong by much for a short time: no error
/// teaches more than half a millisecond does.
struct DriftControl: Sendable {
  /// Twice as much would be heard as pitch.
  static var limit: Double { @_noAllocation @_noLocks get { 0.002 } }
  /// Of a millisecond.
  private static var proportion: Double { 0.000_5 }
  /// Of a millisecond that lasts a second.
  private static var learning: Double { 0.000_01 }
  private static var largestError: Double { 0.5 }
  /// Too little counts for so many times as much.
  private static var urgency: Double { 4 }
  /// No two sound cards differ by more.
  private static var largestDrift: Double { 0.001 }

  /// How much faster the sender's clock is than the player's, as far as it is known.
  private(set) var learned = 0.0

  @_noAllocation @_noLocks
  init() {}

  /// The ratio of input to output frames, within 0.2 % of 1, while `excess` nanoseconds too much are held back; asked
  /// once in `frames` frames at 48 kHz.
  @_noAllocation @_noLocks
  mutating func ratio(forExcess excess: Int64, over frames: FrameCount) -> Double {
    let error = Double(excess) / 1e6 * (excess < 0 ? Self.urgency : 1)
    let bounded = max(-Self.largestError, min(Self.largestError, error))
    let seconds = Double(frames) / 48_000
    learned += bounded * seconds * Self.learning
    learned = max(-Self.largestDrift, min(Self.largestDrift, learned))
    return 1 + max(-Self.limit, min(Self.limit, learned + error * Self.proportion))
  }
}
