package import MediaCore

/// Packet loss concealment for a voice at 8 kHz (ITU-T G.711 Appendix I).
///
/// The last pitch periods are repeated: one for 10 ms, then two, then three, so that it does not
/// buzz, with cross-fades of a quarter of a period where the repetition starts again and where the
/// number of periods grows. After 10 ms it fades, and after 60 ms nothing is left.
///
/// The standard also cross-fades the last 3.75 ms before the loss, for which it delays all output
/// by as much; here nothing is delayed, and a step where the loss begins is spread over a quarter
/// of a period instead.
package struct PitchContinuation: ~Copyable {
  /// Number of past samples required: three of the longest periods and a cross-fade.
  package static var historyCount: Int { @_noAllocation @_noLocks get { 390 } }

  /// Shortest pitch period in samples, for 200 Hz; the longest is for 66 Hz.
  private static var shortestPeriod: Int { @_noAllocation @_noLocks get { 40 } }
  private static var longestPeriod: Int { @_noAllocation @_noLocks get { 120 } }
  /// Number of samples, 20 ms, that are compared to find the period.
  private static var comparedCount: Int { @_noAllocation @_noLocks get { 160 } }
  /// Number of samples, 10 ms, after which one period more is repeated.
  private static var stepCount: Int { @_noAllocation @_noLocks get { 80 } }
  private static var fadedCount: Int { @_noAllocation @_noLocks get { 480 } }
  private static var mostPeriods: Int { @_noAllocation @_noLocks get { 3 } }

  private var history = SampleBuffer(repeating: 0, count: 390)
  private var period = 40
  private var produced = 0
  private var repeated = Repetition(periods: 1, place: 0)
  /// Repetition before the last step, while it is faded out.
  private var former = Repetition(periods: 1, place: 0)
  /// Difference between the last sample before the loss and the one that the repetition continues.
  private var step: Float = 0

  // The last `periods` periods over and over, of which the sample at `place` comes next.
  private struct Repetition: BitwiseCopyable {
    var periods: Int
    var place: Int

    @_noAllocation @_noLocks
    mutating func advance(_ period: Int) {
      place = place + 1 < periods * period ? place + 1 : 0
    }
  }

  /// Creates a continuation without a history.
  package init() {}

  /// Starts a continuation of the `historyCount` samples of `played`.
  @_noAllocation @_noLocks
  package mutating func begin(after played: borrowing SampleBuffer) {
    history.copy(from: played, count: Self.historyCount)
    period = likeliestPeriod
    produced = 0
    repeated = Repetition(periods: 1, place: 0)
    let end = Self.historyCount
    step = history[end - 1] - history[end - 1 - period]
  }

  /// Returns the next sample of the continuation.
  @_noAllocation @_noLocks
  package mutating func next() -> Float {
    guard produced < Self.fadedCount else { return 0 }
    if produced > 0, produced % Self.stepCount == 0, repeated.periods < Self.mostPeriods {
      former = repeated
      // The same place within a period, in the last of them.
      repeated.periods += 1
      repeated.place = repeated.place % period + period * (repeated.periods - 1)
    }
    let overlap = period / 4
    var sample = self.sample(of: repeated)
    repeated.advance(period)
    let sinceStep = produced % Self.stepCount
    if produced < overlap {
      sample += step * (1 - Float(produced + 1) / Float(overlap + 1))
    } else if produced >= Self.stepCount, sinceStep < overlap,
      produced < Self.mostPeriods * Self.stepCount
    {
      let weight = Float(sinceStep + 1) / Float(overlap + 1)
      let old = self.sample(of: former)
      former.advance(period)
      sample = old + (sample - old) * weight
    }
    let faded = produced - Self.stepCount
    produced += 1
    guard faded > 0 else { return sample }
    return sample * (1 - Float(faded) / Float(Self.fadedCount - Self.stepCount))
  }

  // At its end a repetition is cross-faded into the signal before its start.
  @_noAllocation @_noLocks
  private func sample(of repetition: Repetition) -> Float {
    let count = repetition.periods * period
    let overlap = period / 4
    let index = Self.historyCount - count + repetition.place
    let fading = repetition.place - (count - overlap)
    guard fading >= 0 else { return history[index] }
    let weight = Float(fading + 1) / Float(overlap + 1)
    return history[index] + (history[index - count] - history[index]) * weight
  }

  // The lag at which the last 20 ms correlate best with the signal before them.
  private var likeliestPeriod: Int {
    @_noAllocation @_noLocks get {
      var best = Self.longestPeriod
      var highest: Float = 0
      for lag in Self.shortestPeriod...Self.longestPeriod {
        let found = resemblance(lag)
        if found > highest {
          highest = found
          best = lag
        }
      }
      return best
    }
  }

  @_noAllocation @_noLocks
  private func resemblance(_ lag: Int) -> Float {
    var product: Float = 0
    // Near silence has no pitch period.
    var power: Float = 1e-6
    for index in Self.historyCount - Self.comparedCount..<Self.historyCount {
      product += history[index] * history[index - lag]
      power += history[index - lag] * history[index - lag]
    }
    return product > 0 ? product * product / power : 0
  }
}
