/// Comparison of two recordings: how well one carries the speech of the other, and how much later.
///
/// Both are brought to 8 kHz, without the rumble below speech. The loudness contours give the
/// coarse delay; then each half second of speech is looked for where the ones before it were found,
/// by normalised correlation, so that the search follows clocks that drift apart. Where some were
/// not found, the contour of the next seconds tells where the recording goes on. A codec keeps
/// this likeness well above 0.5; another voice stays near 0. A recording may have inverted
/// polarity.
struct RecordingComparison {
  /// Median delay of the segments in milliseconds; nil if less than 30 % of them were found.
  let delayMilliseconds: Double?
  /// Mean likeness (normalised correlation) of the segments, 0 to 1.
  let similarity: Double
  /// Share of the segments with a likeness of 0.5 at least.
  let heardShare: Double
  /// Number of segments: half seconds of speech.
  let segments: Int
  /// True if the recording has inverted polarity.
  let isInverted: Bool
  /// Error of the recording's clock in parts per million, positive if it is fast; nil if too little
  /// was found to tell.
  let drift: Double?

  private struct Match {
    var likeness = 0.0
    var lag: Int
  }

  /// Best match of a segment as it is, and with inverted polarity.
  private struct Matches {
    var upright: Match
    var inverted: Match

    func best(isInverted: Bool) -> Match { isInverted ? inverted : upright }
  }

  private static let rate = 8_000
  /// Steps of the loudness contours in samples: 10 ms, and 0.1 s if a recording is longer than
  /// three minutes, as clocks drift.
  private static let (fineStep, coarseStep) = (80, 800)
  private static let longestFine = 180 * rate
  private static let segmentLength = 4_000
  /// Distances in samples from the lag of the last segments within which the next one is sought,
  /// first the near one.
  private static let (near, reach) = (160, 800)
  /// Search distance before any segment was found or after the delay has jumped: drift blurs the
  /// coarse delay.
  private static let firstReach = 4_800
  private static let likeness = 0.5
  private static let clearly = 0.1
  /// Number of half seconds that may be missed in a row; more mean that the delay has jumped.
  private static let mostMisses = 2
  /// Search distance of 3 s, tried for one in eight misses: a longer pause lets the delay jump that
  /// far.
  private static let farthest = 24_000

  init(said: [Float], saidRate: Int, heard: [Float], heardRate: Int) {
    let said = Self.withoutRumble(Self.decimate(said, from: saidRate))
    let heard = Heard(Self.withoutRumble(Self.decimate(heard, from: heardRate)))
    let found = Self.matches(of: said, in: heard)
    // A tone is found upside down half a period later: all together tell.
    let isInverted = Self.isInverted(found.map(\.matches))
    let all = Self.inOrder(
      found.map { ($0.start, $0.matches.best(isInverted: isInverted)) }
    ) { start, lag in
      heard.best(of: said, at: start, around: lag, reach: Self.near, step: 1)
        .best(isInverted: isInverted)
    }
    let good = all.filter { $0.match.likeness >= Self.likeness }
    let lags = good.map(\.match.lag).sorted()
    segments = found.count
    similarity = all.isEmpty ? 0 : all.map(\.match.likeness).reduce(0, +) / Double(all.count)
    heardShare = all.isEmpty ? 0 : Double(good.count) / Double(all.count)
    // Some are found by chance.
    delayMilliseconds =
      heardShare < 0.3 ? nil : Double(lags[lags.count / 2]) * 1_000 / Double(Self.rate)
    let polarity = PolarityEstimate(
      of: said,
      in: heard.samples,
      segments: good.map { ($0.start, $0.match.lag) },
      length: Self.segmentLength
    )
    self.isInverted = polarity.isInverted ?? isInverted
    drift =
      heardShare < 0.3
      ? nil : Self.slope(of: good.map { ($0.start, $0.match.lag) }).map { $0 * 1e6 }
  }

  // MARK: Segments

  private static func isInverted(_ matches: [Matches]) -> Bool {
    // A band without low tones is nearly as like upside down, half a period later.
    let difference = matches.reduce(0) { $0 + $1.inverted.likeness - $1.upright.likeness }
    return difference > 0
  }

  /// Matches without those that are found where another one was, or before it, unless they are
  /// found in order as well: what is said in a loop is heard as often as it was recorded.
  ///
  /// `search` looks for a segment around a lag.
  private static func inOrder(
    _ all: [(start: Int, match: Match)],
    search: (_ start: Int, _ lag: Int) -> Match
  ) -> [(start: Int, match: Match)] {
    let found = all.indices.filter { all[$0].match.likeness >= likeness }
    let kept = longestChain(found.map { all[$0].start + all[$0].match.lag }).map { found[$0] }
    var result = all
    var (before, next) = (kept.first, 0)
    for index in all.indices where all[index].match.likeness >= likeness {
      while next < kept.count, kept[next] < index { next += 1 }
      if next < kept.count, kept[next] == index {
        before = index
        continue
      }
      let start = all[index].start
      let again = before.map { search(start, result[$0].match.lag) } ?? Match(lag: 0)
      let end = next < kept.count ? all[kept[next]].start + all[kept[next]].match.lag : .max
      let begin = before.flatMap { $0 < index ? result[$0].start + result[$0].match.lag : nil }
      let position = start + again.lag
      let isAfter = begin.map { position >= $0 + leastStep } ?? true
      let fits = isAfter && position <= end - leastStep
      result[index].match =
        again.likeness >= likeness && fits ? again : Match(lag: all[index].match.lag)
      if fits, again.likeness >= likeness { before = index }
    }
    return result
  }

  /// Least distance of two segments in a recording, in samples: a jitter buffer plays sound at most
  /// twice as fast.
  private static let leastStep = segmentLength / 2

  // Indices of the longest series of positions that grow by `leastStep` at least; of equally long
  // ones the first to end.
  private static func longestChain(_ positions: [Int]) -> [Int] {
    // For each length the chain that ends first; for each position the one before it in its chain.
    var ends: [Int] = []
    var befores: [Int?] = []
    for (index, position) in positions.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if positions[ends[middle]] <= position - leastStep {
          low = middle + 1
        } else {
          high = middle
        }
      }
      befores.append(low > 0 ? ends[low - 1] : nil)
      if low == ends.count {
        ends.append(index)
      } else if position < positions[ends[low]] {
        ends[low] = index
      }
    }
    var chain: [Int] = []
    var next = ends.last
    while let index = next {
      chain.append(index)
      next = befores[index]
    }
    return chain.reversed()
  }

  private static func matches(
    of said: [Float],
    in heard: Heard
  ) -> [(start: Int, matches: Matches)] {
    let step = max(said.count, heard.samples.count) > longestFine ? coarseStep : fineStep
    let contours = (said: contour(said, step), heard: contour(heard.samples, step))
    guard let coarse = coarseLag(contours.said, contours.heard) else { return [] }
    let least = leastSpeech(said)
    var found: [(start: Int, matches: Matches)] = []
    var expected = coarse * step
    var recent: [Int] = []
    var misses = 0
    /// Index of the first segment after the last one that was found.
    var firstMissed = 0
    // How much more is found upside down so far.
    var inversion = 0.0
    for start in stride(from: 0, through: said.count - segmentLength, by: segmentLength)
    where power(said[start..<start + segmentLength]) > least {
      var matches = heard.best(of: said, at: start, around: expected, reach: near, step: 1)
      let isInverted = inversion > clearly * Double(found.count)
      if matches.best(isInverted: isInverted).likeness < likeness {
        misses += 1
        let isLost = recent.isEmpty || misses > mostMisses
        // What has not been found for long is looked for less often.
        let isRare = misses > 24 && misses % 8 != 5
        let wide = misses % 8 == 5 ? farthest : isLost && !isRare ? firstReach : reach
        matches = heard.find(said, at: start, around: expected, reach: wide)
        let isFound = matches.best(isInverted: isInverted).likeness >= likeness
        if !isFound, misses % 8 == mostMisses + 1,
          let lag = localLag(contours.said, contours.heard, from: start / step, step)
        {
          let others = heard.find(said, at: start, around: lag, reach: firstReach)
          if others.best(isInverted: isInverted).likeness >= likeness { matches = others }
        }
      }
      inversion += matches.inverted.likeness - matches.upright.likeness
      let match = matches.best(isInverted: inversion > clearly * Double(found.count + 1))
      if match.likeness >= likeness {
        // One that was found elsewhere by chance leads nowhere, unless the place before is lost.
        recent = (misses > mostMisses ? [] : recent.suffix(4)) + [match.lag]
        expected = recent.sorted()[recent.count / 2]
        // Those before it may be there as well.
        if misses > mostMisses {
          for index in firstMissed..<found.count {
            let again = heard.find(said, at: found[index].start, around: match.lag, reach: reach)
            let likenesses = [again, found[index].matches].map {
              $0.best(isInverted: isInverted).likeness
            }
            if likenesses[0] > likenesses[1] { found[index].matches = again }
          }
        }
        misses = 0
        firstMissed = found.count + 1
      }
      found.append((start, matches))
    }
    return found
  }

  /// Length in samples of the contour by which a lost position is sought again: 5 s.
  private static let contourLength = 40_000

  // The lag in samples at which the next seconds of the contour are most like the recording's.
  private static func localLag(
    _ said: [Float],
    _ heard: [Float],
    from first: Int,
    _ step: Int
  ) -> Int? {
    let part = Array(said[min(first, said.count)...].prefix(contourLength / step))
    return coarseLag(part, heard).map { ($0 - first) * step }
  }

  /// A recording, with the sums from which the energy of any part of it follows.
  private struct Heard {
    let samples: [Float]
    /// Sum of the squares before each sample.
    private let sums: [Double]

    init(_ samples: [Float]) {
      self.samples = samples
      var sum = 0.0
      sums =
        [0]
        + samples.map { sample in
          sum += Double(sample * sample)
          return sum
        }
    }

    // Every second lag finds it: what it looks for lies below 2 kHz for the most part.
    func find(_ said: [Float], at start: Int, around lag: Int, reach: Int) -> Matches {
      let rough = best(of: said, at: start, around: lag, reach: reach, step: 2)
      func fine(_ lag: Int) -> Matches { best(of: said, at: start, around: lag, reach: 4, step: 1) }
      return Matches(
        upright: fine(rough.upright.lag).upright,
        inverted: fine(rough.inverted.lag).inverted
      )
    }

    func best(of said: [Float], at start: Int, around lag: Int, reach: Int, step: Int) -> Matches {
      let length = RecordingComparison.segmentLength
      let energy = Double(RecordingComparison.power(said[start..<start + length])) * Double(length)
      var best = Matches(upright: Match(lag: lag), inverted: Match(lag: lag))
      let first = max(0, start + lag - reach)
      let last = min(samples.count - length, start + lag + reach)
      guard first <= last else { return best }
      for position in stride(from: first, through: last, by: step) {
        let other = sums[position + length] - sums[position]
        guard energy * other > 1e-12 else { continue }
        let product = RecordingComparison.product(said, start, samples, position, count: length)
        let likeness = product / (energy * other).squareRoot()
        let place = position - start
        if likeness > best.upright.likeness {
          best.upright = Match(likeness: likeness, lag: place)
        } else if -likeness > best.inverted.likeness {
          best.inverted = Match(likeness: -likeness, lag: place)
        }
      }
      return best
    }
  }

  // MARK: Signals

  // The mean of each span of input: a crude low-pass, and the same for both sides.
  private static func decimate(_ samples: [Float], from inputRate: Int) -> [Float] {
    let count = samples.count * rate / inputRate
    return (0..<count).map { index in
      let first = index * inputRate / rate
      let last = max(first + 1, (index + 1) * inputRate / rate)
      return samples[first..<min(last, samples.count)].reduce(0, +) / Float(last - first)
    }
  }

  // Neither a constant offset nor what is below 40 Hz is speech.
  private static func withoutRumble(_ samples: [Float]) -> [Float] {
    var before = samples.first ?? 0
    var level: Float = 0
    return samples.map { sample in
      level = sample - before + 0.97 * level
      before = sample
      return level
    }
  }

  private static func contour(_ samples: [Float], _ step: Int) -> [Float] {
    let starts = stride(from: 0, through: samples.count - step, by: step)
    let limit = 2 * usualPower(samples).squareRoot()
    let loudness = starts.map { min(limit, power(samples[$0..<$0 + step]).squareRoot()) }
    let mean = loudness.reduce(0, +) / Float(max(1, loudness.count))
    return loudness.map { $0 - mean }
  }

  // Steps of the contour by which `heard` lags `said` (negative if it leads), best correlation.
  private static func coarseLag(_ said: [Float], _ heard: [Float]) -> Int? {
    guard said.count > 2, heard.count > 2 else { return nil }
    var energies = [0.0]
    for value in heard { energies.append(energies[energies.count - 1] + Double(value * value)) }
    // Other voices may be louder than the one that is sought; silence is like everything.
    let floor = energies[heard.count] / Double(heard.count) / 100
    var best: (lag: Int, value: Double)?
    for lag in -said.count + 1..<heard.count {
      let begin = max(0, -lag)
      let count = min(said.count, heard.count - lag) - begin
      guard count > 0 else { continue }
      let sum = product(said, begin, heard, begin + lag, count: count)
      let energy = energies[begin + lag + count] - energies[begin + lag] + floor * Double(count)
      let value = sum / max(energy, 1e-12).squareRoot()
      if value > best?.value ?? 0 { best = (lag, value) }
    }
    return best?.lag
  }

  // The mean power of the segments, of which a beep or a bang counts no more than four loud ones.
  private static func usualPower(_ samples: [Float]) -> Float {
    let powers = stride(from: 0, through: samples.count - segmentLength, by: segmentLength)
      .map { power(samples[$0..<$0 + segmentLength]) }
    let loud = powers.filter { $0 > 1e-7 }.sorted()
    guard !loud.isEmpty else { return power(samples[...]) }
    let limit = 4 * loud[min(loud.count - 1, loud.count * 4 / 5)]
    return powers.reduce(0) { $0 + min($1, limit) } / Float(powers.count)
  }

  // The power from which a segment is speech: a tenth of the usual one, or less if it still stands
  // out of the background, as a second talker may be far away.
  private static func leastSpeech(_ samples: [Float]) -> Float {
    let powers = stride(from: 0, through: samples.count - fineStep, by: fineStep)
      .map { power(samples[$0..<$0 + fineStep]) }.sorted()
    let usual = usualPower(samples)
    // Of the pauses between words.
    let background = powers.isEmpty ? 0 : powers[powers.count / 20]
    return min(usual / 10, max(usual / 200, 30 * background))
  }

  private static func power(_ samples: ArraySlice<Float>) -> Float {
    samples.reduce(Float(0)) { $0 + $1 * $1 } / Float(max(1, samples.count))
  }

  // Eight products at once.
  private static func product(
    _ one: [Float],
    _ first: Int,
    _ other: [Float],
    _ second: Int,
    count: Int
  ) -> Double {
    precondition(first >= 0 && first + count <= one.count)
    precondition(second >= 0 && second + count <= other.count)
    var sums = SIMD8<Float>()
    var sum = 0.0
    let whole = count / 8 * 8
    // SAFETY: all that is loaded lies in the ranges that were checked above.
    unsafe one.withUnsafeBytes { one in
      unsafe other.withUnsafeBytes { other in
        for place in stride(from: 0, to: whole, by: 8) {
          let left = unsafe one.loadUnaligned(
            fromByteOffset: 4 * (first + place),
            as: SIMD8<Float>.self
          )
          let right = unsafe other.loadUnaligned(
            fromByteOffset: 4 * (second + place),
            as: SIMD8<Float>.self
          )
          sums += left * right
        }
      }
    }
    for place in whole..<count { sum += Double(one[first + place] * other[second + place]) }
    return sum + Double(sums.sum())
  }

  // The lags without the steps that no clock makes: a jitter buffer plays sound later or earlier.
  // Nil if they are many, as where speech is stretched all the time.
  private static func withoutSteps(_ lags: [(start: Int, lag: Int)]) -> [(start: Int, lag: Int)]? {
    let changes = zip(lags, lags.dropFirst()).map { one, next in
      (time: next.start - one.start, change: next.lag - one.lag)
    }
    // A clock may be off by 1000 ppm; what is found is off by a sample or two.
    let isStep = changes.map { abs($0.change) > 4 + $0.time / 1_000 }
    guard 10 * isStep.count(where: \.self) <= isStep.count else { return nil }
    let quiet = zip(changes, isStep).filter { !$1 }.map(\.0)
    let rate =
      Double(quiet.reduce(0) { $0 + $1.change }) / Double(max(1, quiet.reduce(0) { $0 + $1.time }))
    var stepped = 0.0
    var level = Array(lags.prefix(1))
    for (index, change) in changes.enumerated() {
      // The clock went on meanwhile.
      if isStep[index] { stepped += Double(change.change) - rate * Double(change.time) }
      let lag = lags[index + 1].lag - Int(stepped.rounded())
      level.append((lags[index + 1].start, lag))
    }
    return level
  }

  /// Largest interquartile width in samples, 1 ms, of the lags around a line that is a clock's
  /// drift.
  private static let lineWidth = 8.0

  // The slope of the line on which the lags lie, as they are or without steps; nil if they lie on
  // none, and of less than a minute.
  private static func slope(of found: [(start: Int, lag: Int)]) -> Double? {
    guard let first = found.first, let last = found.last, last.start - first.start >= 60 * rate
    else { return nil }
    for lags in [found, withoutSteps(found)].compactMap(\.self) {
      guard let slope = medianSlope(of: lags) else { continue }
      let rest = lags.map { Double($0.lag) - slope * Double($0.start) }.sorted()
      // Within a segment a clock drifts as well.
      let width = lineWidth + abs(slope) * Double(segmentLength)
      if rest[rest.count * 3 / 4] - rest[rest.count / 4] <= width { return slope }
    }
    return nil
  }

  // The median slope of lags that are far apart.
  private static func medianSlope(of lags: [(start: Int, lag: Int)]) -> Double? {
    let span = (lags.last?.start ?? 0) - (lags.first?.start ?? 0)
    let step = max(1, lags.count / 100)
    let some = stride(from: 0, to: lags.count, by: step).map { lags[$0] }
    var slopes: [Double] = []
    for (index, one) in some.enumerated() {
      for other in some[(index + 1)...] where other.start - one.start > span / 4 {
        slopes.append(Double(other.lag - one.lag) / Double(other.start - one.start))
      }
    }
    return slopes.isEmpty ? nil : slopes.sorted()[slopes.count / 2]
  }
}
