import MediaCore

/// Control of the resampling ratio, which removes clock drift and keeps the delay at its target.
///
/// An error of the delay is corrected with a time constant of two seconds, or of half a second if
/// the delay is too short, which leads to concealment, or if it is more than half a millisecond too
/// long in a call that has only begun or whose sender changed its packets. An error that lasts is
/// drift, which is learned over a minute and corrected from then on. Changes of the network's
/// delay cause large errors for a short time, so learning limits the error to half a millisecond.
///
/// In speech, a delay that moves shifts one part of a sentence against another, which PESQ detects
/// if it is a millisecond or more: it moves slowly then, and fast in the pauses, since silence has
/// no pitch. For five seconds after an interruption, the beginning of a sentence or a change of the
/// sender's packets, it moves fast in speech as well.
struct DriftControl: Sendable {
  /// Largest deviation of the ratio from 1 in speech; twice as much would be audible as pitch.
  static var limit: Double { @_noAllocation @_noLocks get { 0.002 } }
  /// Largest deviation of the ratio from 1 in a pause, which has no pitch.
  private static var quietLimit: Double { 0.02 }
  /// Largest correction beyond drift within a sentence, for excess delay and for under-delay: late
  /// packets are worse than a shift.
  private static var speechLimit: (excess: Double, lack: Double) { (0.000_25, 0.000_5) }
  /// Correction of the ratio for each millisecond of error, in a sentence.
  private static var proportion: Double { 0.000_5 }
  /// Correction of the ratio for each millisecond of error, in a pause.
  private static var quietProportion: Double { 0.005 }
  /// Silence that counts as a pause, 200 ms at 48 kHz; a shorter one is part of a sentence.
  private static var pauseFrames: FrameCount { 9_600 }
  /// Silence that counts as a pause while a call settles, 100 ms at 48 kHz: longer than between two
  /// sounds of a word.
  private static var firstPauseFrames: FrameCount { 4_800 }
  /// Time for which `speechLimit` is lifted, and for which a call settles: 5 s at 48 kHz.
  private static var hasteFrames: FrameCount { 240_000 }
  /// Change of the learned drift per second and per millisecond of error.
  private static var learning: Double { 0.000_01 }
  private static var largestError: Double { 0.5 }
  /// Factor by which under-delay counts more, and the part of an excess beyond `largestError` while
  /// a call settles.
  private static var urgency: Double { 4 }
  /// Bound of the learned drift: no two sound cards differ by more.
  private static var largestDrift: Double { 0.001 }

  /// Learned drift: the ratio of the sender's clock to the player's, minus 1; 0 while unknown.
  private(set) var learned = 0.0
  /// Frames for which the output has been inaudible, at most `pauseFrames`.
  private var quietFrames: FrameCount = 0
  /// Frames left for which `speechLimit` is lifted.
  private var haste = hasteFrames
  /// Frames left until the call has settled.
  private var settling: FrameCount
  private let mechanisms: PlayoutMechanisms

  /// True early in a call and after the sender changed its packets; excess delay is then resampled
  /// away faster.
  var isSettling: Bool { @_noAllocation @_noLocks get { settling > 0 && mechanisms.settling } }

  /// Creates a control that has learned no drift; `isBeginning` is false if another source takes
  /// over within a call.
  @_noAllocation @_noLocks
  init(_ mechanisms: PlayoutMechanisms, isBeginning: Bool = true) {
    self.mechanisms = mechanisms
    settling = isBeginning ? Self.hasteFrames : 0
  }

  /// Notes that the sound was interrupted, or starts again.
  @_noAllocation @_noLocks
  mutating func noteInterruption() { haste = Self.hasteFrames }

  /// Notes that the sender has changed the duration of its packets.
  @_noAllocation @_noLocks
  mutating func noteOtherPackets() {
    noteInterruption()
    settling = Self.hasteFrames
  }

  /// Counts `frames` at 48 kHz as played, which are inaudible if they are `isQuiet`.
  @_noAllocation @_noLocks
  mutating func note(_ frames: FrameCount, isQuiet: Bool) {
    quietFrames = isQuiet ? min(quietFrames + frames, Self.pauseFrames) : 0
    haste = max(0, haste - frames)
    settling = max(0, settling - frames)
  }

  /// Returns the ratio of input to output frames for the next `frames` at 48 kHz, while the delay
  /// is `excess` nanoseconds too long.
  ///
  /// It is within 0.2 % of 1, or 2 % in a pause.
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

  /// Returns the ratio nearest to `ratio` that is not audible as a change of pitch.
  @_noAllocation @_noLocks
  static func inaudible(_ ratio: Double) -> Double {
    max(1 - limit, min(1 + limit, ratio))
  }
}
