package import MediaCore

/// Two-sided concealment: sound continued from before a loss fades into sound extended backwards
/// from after it.
extension OutputBuffer {
  /// Frames at 48 kHz after a loss that concealment uses: two periods of the lowest voice and a
  /// joint.
  package static var mergeFrames: FrameCount { @_noAllocation @_noLocks get { 1_920 } }
  /// Least `resemblance` of a voice to its next period: the square of a correlation of one half.
  private static var voicedLikeness: Float { @_noAllocation @_noLocks get { 0.25 } }
  /// Least resemblance when the window cannot hold two periods of the lowest voice.
  private static var certainLikeness: Float { @_noAllocation @_noLocks get { 0.5 } }
  /// Longest mirror image, 10 ms at 48 kHz, in which noise changes little.
  private static var mirroredFrames: FrameCount { @_noAllocation @_noLocks get { 480 } }
  /// Shortest fade, in frames at 48 kHz; a shorter one is audible.
  private static var leastFrames: FrameCount { @_noAllocation @_noLocks get { 120 } }

  /// Cross-fades the unplayed part of a loss into sound extended backwards from after it.
  ///
  /// The newest `next` frames of the queue were decoded, and the `gap` frames before them
  /// concealed, from what was played before the loss. A voice is extended backwards period by
  /// period, other sound by its mirror image. In at most `converging` of the decoded frames the
  /// decoder has not converged; they fade as well. No frames are added or removed, and those
  /// already played stay.
  @_noAllocation @_noLocks
  package mutating func repair(gap: FrameCount, next: FrameCount, converging: FrameCount) {
    let base = end - next
    let begin = max(firstUnplayed, base - gap)
    guard next > 0, base - begin >= Self.leastFrames else { return }
    if mechanisms.pitch, let period = voicedPeriod(from: base, count: next) {
      let converging = min(min(converging, base - begin), next - period)
      let anchor = base + max(converging, period / 4)
      takePeriod(at: anchor, count: period)
      fade(at: base, converging: converging, intoPatternOf: period, before: anchor, downTo: begin)
    } else {
      let mirrored = min(next, Self.mirroredFrames)
      takeMirrorImage(at: base, count: mirrored)
      fade(at: base, converging: 0, intoPatternOf: 2 * mirrored, before: base, downTo: begin)
    }
  }

  @_noAllocation @_noLocks
  private func voicedPeriod(from base: Int, count: FrameCount) -> Int? {
    // Two of them, of which the second ends with a joint of a quarter.
    let longest = min(Self.longestPeriod, count * 4 / 9)
    guard longest >= Self.shortestPeriod else { return nil }
    let (period, likeness) = likeliestPeriod(from: base, longest: longest)
    let isSure = count >= 2 * Self.longestPeriod
    return likeness >= (isSure ? Self.voicedLikeness : Self.certainLikeness) ? period : nil
  }

  // The end of the period goes over into what was decoded before its first sample, so that it can
  // be repeated without a step.
  @_noAllocation @_noLocks
  private mutating func takePeriod(at anchor: Int, count: Int) {
    pattern.copy(from: samples, at: anchor, count: count)
    let overlap = count / 4
    for index in 0..<overlap {
      let place = count - overlap + index
      let weight = Float(index + 1) / Float(overlap + 1)
      pattern[place] += (samples[anchor - overlap + index] - pattern[place]) * weight
    }
  }

  // Backwards in time: to the end of the `count` frames after `base`, and back again.
  @_noAllocation @_noLocks
  private mutating func takeMirrorImage(at base: Int, count: Int) {
    for index in 0..<count {
      pattern[index] = samples[base + index]
      pattern[2 * count - 1 - index] = samples[base + index]
    }
  }

  // Repeats the pattern backwards over the loss, aligned so that a repetition ends at `anchor`. It
  // fades in up to the end of the loss at `base`, and out over the `converging` frames after it.
  @_noAllocation @_noLocks
  private mutating func fade(
    at base: Int,
    converging: FrameCount,
    intoPatternOf count: Int,
    before anchor: Int,
    downTo begin: Int
  ) {
    let rise = 1 / Float(base - begin + 1)
    let fall = 1 / Float(converging + 1)
    var place = base + converging - 1
    var source = count - 1 - (anchor - 1 - place) % count
    while place >= begin {
      let foreign = place < base ? Float(base - place) * rise : Float(place - base + 1) * fall
      samples[place] = pattern[source] + (samples[place] - pattern[source]) * foreign
      place -= 1
      source = source > 0 ? source - 1 : count - 1
    }
  }
}
