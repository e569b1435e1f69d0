import MediaCore

/// Removes the drift between two sound clocks: the ratio at which to resample so that the delay
/// stays at its target.
///
/// An error of the delay asks for a ratio that corrects it with a time constant of two seconds, and
/// of half a second if the delay is too little, which conceals, or if it is more than half a
/// millisecond too much in a call that has only begun or whose sender changed its packets. An error
/// that lasts is drift: it is learned over a minute, and needs no error from then on. A network
/// whose delay changes makes large errors for a short time, so no error teaches more than half a
/// millisecond does.
///
/// In speech, a delay that moves shifts one part of a sentence against another, which
/// PESQ hears if it is a millisecond or more: it moves slowly then, and fast in the pauses, since
/// silence has no pitch. Where a sentence was broken off or has only begun, or where the sender
/// changed its packets, there is nothing to spare.
struct DriftControl: Sendable {
  /// Twice as much would be audible as pitch.
  static var limit: Double { @_noAllocation @_noLocks get { 0.002 } }
  /// The same in a pause, which has no pitch.
  private static var quietLimit: Double { 0.02 }
  /// Beyond drift, in a sentence, for too much and for too little: late packets are worse than a
  /// shift.
  private static var speechLimit: (excess: Double, lack: Double) { (0.000_25, 0.000_5) }
  /// Correction of the ratio for each millisecond of error, in a sentence.
  private static var proportion: Double { 0.000_5 }
  /// The same in a pause.
  private static var quietProportion: Double { 0.005 }
  /// A shorter silence, 200 ms at 48 kHz, is part of a sentence.
  private static var pauseFrames: FrameCount { 9_600 }
  /// The same while a call settles, 100 ms: longer than between two sounds of a word.
  private static var firstPauseFrames: FrameCount { 4_800 }
  /// For so long no sentence is spared.
  private static var hasteFrames: FrameCount { 240_000 }
  /// Change of the learned drift for a millisecond of error that lasts a second.
  private static var learning: Double { 0.000_01 }
  private static var largestError: Double { 0.5 }
  /// Too little counts for so many times as much, and so does a large error while a call settles.
  private static var urgency: Double { 4 }
  /// No two sound cards differ by more.
  private static var largestDrift: Double { 0.001 }

  /// How much faster the sender's clock is than the player's, as far as it is known.
  private(set) var learned = 0.0
  /// For how long the output was inaudible, up to a pause.
  private var quietFrames: FrameCount = 0
  /// For how long no sentence is spared yet.
  private var haste = hasteFrames
  /// For how long more than usual can be resampled away.
  private var settling: FrameCount
  private let mechanisms: PlayoutMechanisms

  /// Whether the call has only begun, or the sender changed its packets: what is too much then is
  /// soon resampled away.
  var isSettling: Bool { @_noAllocation @_noLocks get { settling > 0 && mechanisms.settling } }

  /// A control of clocks of which nothing is known, in a call that `isBeginning`, or in which
  /// another source takes over.
  @_noAllocation @_noLocks
  init(_ mechanisms: PlayoutMechanisms, isBeginning: Bool = true) {
    self.mechanisms = mechanisms
    settling = isBeginning ? Self.hasteFrames : 0
  }

  /// Notes that the sound was broken off, or begins anew.
  @_noAllocation @_noLocks
  mutating func noteInterruption() { haste = Self.hasteFrames }

  /// Notes that packets wait for less or more at the sender from now on.
  @_noAllocation @_noLocks
  mutating func noteOtherPackets() {
    noteInterruption()
    settling = Self.hasteFrames
  }

  /// Notes that `frames` at 48 kHz are played, which are inaudible if they are `isQuiet`.
  @_noAllocation @_noLocks
  mutating func note(_ frames: FrameCount, isQuiet: Bool) {
    quietFrames = isQuiet ? min(quietFrames + frames, Self.pauseFrames) : 0
    haste = max(0, haste - frames)
    settling = max(0, settling - frames)
  }

  /// The ratio of input to output frames for the next `frames` at 48 kHz, while `excess`
  /// nanoseconds too much are held back: within 0.2 % of 1, or 2 % in a pause.
  @_noAllocation @_noLocks
  mutating func ratio(forExcess excess: Int64, over frames: FrameCount) -> Double {
    let plain = Double(excess) / 1e6
    let error = urgent(plain)
    let bounded = max(-Self.largestError, min(Self.largestError, error))
    let seconds = Double(frames) / 48_000
    learned += bounded * seconds * Self.learning
    if !mechanisms.learnedDrift { learned = 0 }
    learned = max(-Self.largestDrift, min(Self.largestDrift, learned))
    let pause = isSettling ? Self.firstPauseFrames : Self.pauseFrames
    if mechanisms.pauses, quietFrames >= pause {
      let wanted = learned + plain * Self.quietProportion
      return 1 + max(-Self.quietLimit, min(Self.quietLimit, wanted))
    }
    let isHasty = haste > 0 && mechanisms.haste || !mechanisms.sentenceLimit
    let bound = isHasty ? (excess: Self.limit, lack: Self.limit) : Self.speechLimit
    let steering = max(-bound.lack, min(bound.excess, error * Self.proportion))
    return Self.inaudible(1 + learned + steering)
  }

  // An error of so many milliseconds, as large as it counts.
  @_noAllocation @_noLocks
  private func urgent(_ error: Double) -> Double {
    if error < 0 { return mechanisms.lackFirst ? error * Self.urgency : error }
    guard isSettling else { return error }
    return error + max(0, error - Self.largestError) * (Self.urgency - 1)
  }

  /// The ratio nearest to `ratio` that is not audible as a change of pitch.
  @_noAllocation @_noLocks
  static func inaudible(_ ratio: Double) -> Double {
    max(1 - limit, min(1 + limit, ratio))
  }
}
