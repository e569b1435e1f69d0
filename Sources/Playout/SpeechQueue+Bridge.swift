public import MediaTime

/// Concealment from both sides: what was invented for a loss goes over into what must have led to the sound after it.
extension SpeechQueue {
  /// How much of the sound after a loss is made use of: two periods of the lowest voice.
  public static var bridgeheadFrames: FrameCount { @_noAllocation @_noLocks get { 1_440 } }
  /// A voice resembles its next period by half at least (`resemblance` is the square of that).
  private static var voicedLikeness: Float { @_noAllocation @_noLocks get { 0.25 } }
  /// So much after a loss leans on what the decoder invented for it.
  ///
  /// Found with `bench-playout` on seeds of its own: 240 and 720 sounded worse after long losses.
  private static var leaningFrames: FrameCount { @_noAllocation @_noLocks get { 480 } }

  /// Fades the unplayed part of a loss into what would have led to the sound after it.
  ///
  /// The newest `next` frames of the queue were decoded, and the `gap` frames before them invented, from what was heard
  /// before the loss. A voice is followed backwards period by period, other sound by its mirror image.
  /// Nothing is added or taken away, and what was played stays.
  @_noAllocation @_noLocks
  public mutating func bridge(gap: FrameCount, next: FrameCount) {
    let base = end - next
    let begin = max(start + 3, base - gap)
    guard next > 0, base >= begin else { return }
    if let period = voicedPeriod(from: base, count: next) {
      let leaning = max(0, min(Self.leaningFrames, next - 2 * period))
      followVoice(from: base + leaning, period: period, over: base, to: begin)
    } else {
      mirror(at: base, to: begin)
    }
  }

  @_noAllocation @_noLocks
  private func voicedPeriod(from base: Int, count: FrameCount) -> Int? {
    let longest = min(Self.longestPeriod, count / 2)
    guard longest >= Self.shortestPeriod else { return nil }
    let (period, likeness) = likeliestPeriod(from: base, longest: longest)
    return likeness >= Self.voicedLikeness ? period : nil
  }

  // From `anchor` backwards to `begin` the period that follows `anchor`, over and over: fading in up to the end of the
  // loss at `base`, and out from there into what was decoded.
  @_noAllocation @_noLocks
  private mutating func followVoice(
    from anchor: Int,
    period count: Int,
    over base: Int,
    to begin: Int
  ) {
    takePeriod(at: anchor, count: count, overlap: min(count / 4, anchor - begin))
    let rise = 1 / Float(base - begin + 1)
    let fall = 1 / Float(anchor - base + 1)
    var source = count - 1
    var place = anchor - 1
    while place >= begin {
      let foreign = place < base ? Float(base - place) * rise : Float(place - base + 1) * fall
      samples[place] = period[source] + (samples[place] - period[source]) * foreign
      place -= 1
      source = source > 0 ? source - 1 : count - 1
    }
  }

  // The end of the period goes over into what came before its first sample, so that it can be repeated without a step.
  @_noAllocation @_noLocks
  private mutating func takePeriod(at anchor: Int, count: Int, overlap: FrameCount) {
    period.copy(from: samples, at: anchor, count: count)
    for index in 0..<overlap {
      let place = count - overlap + index
      let weight = Float(index + 1) / Float(overlap + 1)
      period[place] += (samples[anchor - overlap + index] - period[place]) * weight
    }
  }

  // From `base` backwards to `begin` what follows `base`, to its end and back again, fading in.
  @_noAllocation @_noLocks
  private mutating func mirror(at base: Int, to begin: Int) {
    let rise = 1 / Float(base - begin + 1)
    var source = base
    var step = 1
    var place = base - 1
    while place >= begin {
      let invented = Float(base - place) * rise
      samples[place] = samples[source] + (samples[place] - samples[source]) * invented
      place -= 1
      let following = source + step
      if following < base || following >= end { step = -step } else { source = following }
    }
  }
}
