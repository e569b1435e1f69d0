package import MediaCore

/// Time-stretching of the queued speech: whole pitch periods are removed or repeated, with a
/// cross-fade of one period (WSOLA family).
extension OutputBuffer {
  static var shortestPeriod: Int { @_noAllocation @_noLocks get { 120 } }
  static var longestPeriod: Int { @_noAllocation @_noLocks get { 720 } }
  private static var decimation: Int { 4 }
  /// Mean power, -50 dBFS, below which a cut is inaudible.
  private static var silencePower: Float { 1e-5 }
  /// Peak, -40 dBFS, up to which output is inaudible; noise of -52 dBFS hardly exceeds it.
  private static var silencePeak: Float { 0.01 }

  /// True if at least 1.25 ms of output is unplayed and all of it is inaudible.
  package var isQuiet: Bool {
    @_noAllocation @_noLocks get {
      guard end - firstUnplayed >= 60 else { return false }
      // In speech the first milliseconds suffice.
      for index in firstUnplayed..<end where abs(samples[index]) > Self.silencePeak { return false }
      return true
    }
  }

  /// Removes one pitch period of at most `limit` frames from the unplayed speech.
  ///
  /// Returns the frames removed: 0 if too little is queued or any cut would be audible. Silence is
  /// cut at any time, speech if `isUrgent` and the period's correlation with the next is 0.5 or
  /// more.
  @_noAllocation @_noLocks
  package mutating func shorten(limit: FrameCount, isUrgent: Bool) -> FrameCount {
    guard let (base, period) = findPeriod(limit: limit, likeness: isUrgent ? 0.5 : nil) else {
      return 0
    }
    for index in 0..<period {
      let weight = Float(index) / Float(period)
      let old = samples[base + index]
      samples[base + index] = old + (samples[base + period + index] - old) * weight
    }
    let tail = base + 2 * period
    samples.move(from: tail, to: base + period, count: end - tail)
    end -= period
    return period
  }

  /// Repeats one pitch period of at most `limit` frames of the unplayed speech.
  ///
  /// Returns the frames added: 0 if too little is queued or the repetition would be audible.
  @_noAllocation @_noLocks
  package mutating func lengthen(limit: FrameCount) -> FrameCount {
    guard let (base, period) = findPeriod(limit: limit, likeness: 0.9),
      end + period <= samples.count
    else { return 0 }
    // first, then second faded into first, then second again
    let second = base + period
    samples.move(from: second, to: second + period, count: end - second)
    for index in 0..<period {
      let weight = Float(index) / Float(period)
      let next = samples[second + period + index]
      samples[second + index] = next + (samples[base + index] - next) * weight
    }
    end += period
    return period
  }

  // The period at which the newest unplayed speech resembles itself most, and where to cut.
  @_noAllocation @_noLocks
  private func findPeriod(limit: FrameCount, likeness: Float?) -> (base: Int, period: Int)? {
    let base = max(firstUnplayed, end - 3 * Self.longestPeriod)
    let longest = min(min(limit, Self.longestPeriod), (end - base) / 2)
    guard longest >= Self.shortestPeriod else { return nil }

    if power(from: base, count: 2 * longest) < Self.silencePower { return (base, longest) }
    guard let likeness else { return nil }
    let (best, found) = likeliestPeriod(from: base, longest: longest)
    return found >= likeness * likeness ? (base, best) : nil
  }

  /// Returns the period of up to `longest` frames at which the sound from `base` on resembles
  /// itself most, and that `resemblance`.
  ///
  /// Twice `longest` frames must be queued from there on.
  @_noAllocation @_noLocks
  func likeliestPeriod(from base: Int, longest: Int) -> (period: Int, likeness: Float) {
    var best = Self.shortestPeriod
    var bestLikeness: Float = -1
    var period = Self.shortestPeriod
    while period <= longest {
      let found = resemblance(base, period, step: Self.decimation)
      if found > bestLikeness {
        bestLikeness = found
        best = period
      }
      period += Self.decimation
    }
    let coarse = best
    bestLikeness = -1
    var candidate = max(Self.shortestPeriod, coarse - 3)
    while candidate <= min(longest, coarse + 3) {
      let found = resemblance(base, candidate, step: 1)
      if found > bestLikeness {
        bestLikeness = found
        best = candidate
      }
      candidate += 1
    }
    return (best, bestLikeness)
  }

  // The normalised correlation of one period with the next, squared with its sign kept: -1 to 1.
  @_noAllocation @_noLocks
  private func resemblance(_ base: Int, _ period: Int, step: Int) -> Float {
    var product: Float = 0
    var first: Float = 1e-9
    var second: Float = 1e-9
    var index = 0
    while index < period {
      let left = samples[base + index]
      let right = samples[base + period + index]
      product += left * right
      first += left * left
      second += right * right
      index += step
    }
    return product * abs(product) / (first * second)
  }

  @_noAllocation @_noLocks
  private func power(from base: Int, count: Int) -> Float {
    var sum: Float = 0
    for index in base..<base + count { sum += samples[index] * samples[index] }
    return sum / Float(count)
  }
}
