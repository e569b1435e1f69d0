/// Polarity of a recording: the sign of the largest coefficient of the filter between speech and
/// recording.
///
/// The likeness alone does not tell: without its low tones speech is nearly as like itself upside
/// down, half a period later.
struct PolarityEstimate {
  /// Coefficients of the filter, 8 ms at 8 kHz; half of them come before the lag.
  private static let count = 64
  /// Share of the power that is added to each tone, so that those that are missing do not count.
  private static let regularization = 1e-5
  /// Most segments that are looked at.
  private static let mostSegments = 100

  private var own = [Double](repeating: 0, count: count)
  private var cross = [Double](repeating: 0, count: count)

  /// Takes segments of `length` samples that begin at `start` in `said`, and `lag` samples later in
  /// `heard`.
  init(
    of said: [Float],
    in heard: [Float],
    segments: [(start: Int, lag: Int)],
    length: Int
  ) {
    let step = max(1, segments.count / Self.mostSegments)
    for place in stride(from: 0, to: segments.count, by: step) {
      // A tone fits at each of its periods: the segments around it tell where it is.
      let around = segments[max(0, place - 8)..<min(segments.count, place + 9)].map(\.lag).sorted()
      let (start, lag) = (segments[place].start, around[around.count / 2])
      let first = start + lag - Self.count / 2
      guard start >= 0, first >= 0, start + length + Self.count <= said.count,
        first + length + Self.count <= heard.count
      else { continue }
      for tap in 0..<Self.count {
        var (ownSum, crossSum): (Float, Float) = (0, 0)
        for index in 0..<length {
          ownSum += said[start + index] * said[start + index + tap]
          crossSum += said[start + index] * heard[first + index + tap]
        }
        own[tap] += Double(ownSum)
        cross[tap] += Double(crossSum)
      }
    }
  }

  /// True for inverted polarity; nil if nothing was taken.
  var isInverted: Bool? {
    filter?.max { abs($0) < abs($1) }.map { $0 < 0 }
  }

  // The filter with the least error (Wiener), by Levinson's recursion; nil without power.
  private var filter: [Double]? {
    var power = own
    power[0] *= 1 + Self.regularization
    guard power[0] > 0 else { return nil }
    var error = power[0]
    var predictor = [1.0]
    var filter = [cross[0] / error]
    for order in 1..<Self.count {
      let rest = (0..<order).reduce(0) { $0 + predictor[$1] * power[order - $1] }
      let reflection = -rest / error
      predictor.append(0)
      predictor = (0...order).map { predictor[$0] + reflection * predictor[order - $0] }
      error *= 1 - reflection * reflection
      guard error > 0 else { return filter }
      let missing = cross[order] - (0..<order).reduce(0) { $0 + filter[$1] * power[order - $1] }
      filter.append(0)
      filter = (0...order).map { filter[$0] + missing / error * predictor[order - $0] }
    }
    return filter
  }
}
