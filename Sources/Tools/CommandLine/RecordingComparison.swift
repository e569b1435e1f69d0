/// How well one recording carries the speech of another, and how much later.
///
/// Both are brought to 8 kHz. The loudness contours (10 ms) give the coarse delay; then each half
/// second of speech is found in the recording within 100 ms of it, by normalised correlation. A
/// codec keeps a waveform's likeness well above 0.5; another voice stays near 0.
struct RecordingComparison {
  /// The median delay of the segments in milliseconds; nil if none was found.
  let delayMilliseconds: Double?
  /// The mean likeness of the segments, 0 to 1.
  let similarity: Double
  /// The share of the segments with a likeness of 0.5 at least.
  let heardShare: Double
  /// How many half seconds of speech there were.
  let segments: Int

  private static let rate = 8_000
  private static let contourStep = 80
  private static let segmentLength = 4_000
  private static let reach = 800
  private static let likeness = 0.5

  init(said: [Float], saidRate: Int, heard: [Float], heardRate: Int) {
    let said = Self.decimate(said, from: saidRate)
    let heard = Self.decimate(heard, from: heardRate)
    guard let coarse = Self.coarseLag(Self.contour(said), Self.contour(heard)) else {
      delayMilliseconds = nil
      similarity = 0
      heardShare = 0
      segments = 0
      return
    }
    let loudest = Self.power(said[...])
    var found: [(likeness: Double, lag: Int)] = []
    var start = 0
    while start + Self.segmentLength <= said.count {
      let segment = said[start..<start + Self.segmentLength]
      if Self.power(segment) > loudest / 10 {
        found.append(
          Self.bestMatch(segment, in: heard, around: start + coarse * Self.contourStep, at: start)
        )
      }
      start += Self.segmentLength
    }
    let good = found.filter { $0.likeness >= Self.likeness }.map(\.lag).sorted()
    segments = found.count
    similarity = found.isEmpty ? 0 : found.map(\.likeness).reduce(0, +) / Double(found.count)
    heardShare = found.isEmpty ? 0 : Double(good.count) / Double(found.count)
    delayMilliseconds =
      good.isEmpty ? nil : Double(good[good.count / 2]) * 1_000 / Double(Self.rate)
  }

  // The mean of each span of input: a crude low-pass, and the same for both sides.
  private static func decimate(_ samples: [Float], from inputRate: Int) -> [Float] {
    let count = samples.count * rate / inputRate
    return (0..<count).map { index in
      let first = index * inputRate / rate
      let last = max(first + 1, (index + 1) * inputRate / rate)
      return samples[first..<min(last, samples.count)].reduce(0, +) / Float(last - first)
    }
  }

  private static func contour(_ samples: [Float]) -> [Float] {
    let loudness = stride(from: 0, to: samples.count - contourStep, by: contourStep).map { start in
      samples[start..<start + contourStep].reduce(Float(0)) { $0 + $1 * $1 }.squareRoot()
    }
    let mean = loudness.reduce(0, +) / Float(max(1, loudness.count))
    return loudness.map { $0 - mean }
  }

  // Steps of the contour by which `heard` lags `said` (negative if it leads), best correlation.
  private static func coarseLag(_ said: [Float], _ heard: [Float]) -> Int? {
    guard said.count > 20, heard.count > 20 else { return nil }
    var best: (lag: Int, value: Float)?
    for lag in -said.count / 2..<heard.count {
      var sum: Float = 0
      for index in max(0, -lag)..<max(max(0, -lag), min(said.count, heard.count - lag)) {
        sum += said[index] * heard[index + lag]
      }
      if sum > best?.value ?? 0 { best = (lag, sum) }
    }
    return best?.lag
  }

  private static func bestMatch(
    _ segment: ArraySlice<Float>,
    in heard: [Float],
    around center: Int,
    at start: Int
  ) -> (likeness: Double, lag: Int) {
    let energy = segment.reduce(Float(1e-9)) { $0 + $1 * $1 }
    var best: (likeness: Double, lag: Int) = (0, 0)
    let first = max(0, center - reach)
    let last = min(heard.count - segment.count, center + reach)
    guard first < last else { return best }
    for position in first..<last {
      var product: Float = 0
      var other: Float = 1e-9
      for offset in 0..<segment.count {
        let value = heard[position + offset]
        product += segment[segment.startIndex + offset] * value
        other += value * value
      }
      let likeness = Double(product / (energy * other).squareRoot())
      if likeness > best.likeness { best = (likeness, position - start) }
    }
    return best
  }

  private static func power(_ samples: ArraySlice<Float>) -> Float {
    samples.reduce(Float(0)) { $0 + $1 * $1 } / Float(max(1, samples.count))
  }
}
