/// Mechanisms of playout, each of which can be left out to measure its worth.
///
/// A call uses them all. `bench playout --without each` leaves out one at a time;
/// `Documentation/Playout.md` has the table.
package struct PlayoutMechanisms: Equatable, Sendable, BitwiseCopyable {
  /// `DelayTarget`: late packets cost more while the target is too short to be noticed.
  package var usualPrice = true
  /// `DelayTarget`: delay costs more where talkers feel it.
  package var feltDelay = true
  /// `DelayTarget`: `usualPrice` applies within the reach of jitter only.
  package var jitterReach = true
  /// `DelayTarget`: the target allows for packets later than any so far.
  package var unseenTail = true
  /// `DelayTarget`: a higher target until 300 ms have been received.
  package var beginning = true
  /// `DelayTarget`: a burst after a stall counts as one event.
  package var bursts = true
  /// `DelayTarget`: after a pause, a slower path is accepted only after a second.
  package var provedRise = true
  /// `DelayTarget`: packets that become longer do not count as later.
  package var longerPackets = true
  /// `DelayHistogram`: a packet that is a little late costs less.
  package var latenessKernel = true
  /// `DelayHistogram`: shares are of a whole memory even before it has filled.
  package var wholeMemory = true
  /// `DelayHistogram`: copies of lost packets are waited for.
  package var copies = true
  /// `BaselineEstimator`: the third-lowest minimum instead of the lowest.
  package var thirdLowest = true
  /// `JitterBuffer`: a little lateness is dropped and steered back.
  package var steeredLateness = true
  /// `JitterBuffer`: the part of a late packet beyond the target is dropped.
  package var lateTrim = true
  /// `JitterBuffer`: the part of the first packet beyond the target is dropped.
  package var firstTrim = true
  /// `JitterBuffer`: lasting excess delay is cut even in speech.
  package var urgentCut = true
  /// `DriftControl`: drift is learned.
  package var learnedDrift = true
  /// `DriftControl`: the delay moves slowly within a sentence.
  package var sentenceLimit = true
  /// `DriftControl`: the delay moves fast in a pause.
  package var pauses = true
  /// `DriftControl`: sentences may be resampled fast at the beginning and after an interruption.
  package var haste = true
  /// `DriftControl`: at the beginning more is resampled before speech is stretched.
  package var settling = true
  /// `DriftControl`: under-delay is corrected faster than excess delay.
  package var lackFirst = true
  /// `VoiceReceiver`: a late packet replaces concealment that has not been played.
  package var replacement = true
  /// `VoiceReceiver`: a loss is repaired from both sides.
  package var repair = true
  /// `OutputBuffer`: a voice is extended backwards by its pitch.
  package var pitch = true
  /// `LossRepair`: frames in which the decoder converges are repaired as well.
  package var convergence = true

  /// `GapFiller`: the far side's background takes the place of concealment and of silence.
  package var comfortNoise = true
  /// `GapFiller`: what is decoded after a gap is no louder than the far side was before.
  package var loudness = true

  /// Creates a set in which all are in use.
  @_noAllocation @_noLocks
  package init() {}
}
