import VoiceEngine

/// Aligns the two sides of a call sample by sample: the user on the left, the far side on the
/// right.
///
/// Each side arrives at the pace of its device. Silence is inserted for a side that is more than
/// half a second behind, such as one without a device. A value without I/O.
struct StereoAlignment: Equatable {
  private var left: [Float] = []
  private var right: [Float] = []

  /// Number of samples that one side may be ahead before silence is inserted on the other: half a
  /// second at 48 kHz.
  private static let slack = 24_000

  /// Takes the sound of both sides, and returns pairs of samples, left first.
  mutating func add(_ sound: RecordedSound) -> [Float] {
    left += sound.said
    right += sound.heard
    let ahead = left.count - right.count
    if ahead > Self.slack { right += [Float](repeating: 0, count: ahead - Self.slack) }
    if -ahead > Self.slack { left += [Float](repeating: 0, count: -ahead - Self.slack) }
    return takePairs()
  }

  /// Returns the remaining pairs of samples; the shorter side ends with silence.
  mutating func finish() -> [Float] {
    let count = max(left.count, right.count)
    left += [Float](repeating: 0, count: count - left.count)
    right += [Float](repeating: 0, count: count - right.count)
    return takePairs()
  }

  private mutating func takePairs() -> [Float] {
    let count = min(left.count, right.count)
    var pairs = [Float](repeating: 0, count: 2 * count)
    for index in 0..<count {
      pairs[2 * index] = left[index]
      pairs[2 * index + 1] = right[index]
    }
    left.removeFirst(count)
    right.removeFirst(count)
    return pairs
  }
}
