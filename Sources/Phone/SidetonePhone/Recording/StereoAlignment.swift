import VoiceEngine

/// Puts the two sides of a call beside each other, sample for sample: the user on the left, the far
/// side on the right.
///
/// The two come at their devices' pace. One that stays behind for long, as a side without a device
/// does, is filled up with silence. A value without I/O.
struct StereoAlignment: Equatable {
  private var left: [Float] = []
  private var right: [Float] = []

  /// How far one side may be ahead before the other is filled up: half a second at 48 kHz.
  private static let slack = 24_000

  /// Takes in what both sides have said, and returns pairs of samples, left first.
  mutating func add(_ sound: RecordedSound) -> [Float] {
    left += sound.said
    right += sound.heard
    let ahead = left.count - right.count
    if ahead > Self.slack { right += [Float](repeating: 0, count: ahead - Self.slack) }
    if -ahead > Self.slack { left += [Float](repeating: 0, count: -ahead - Self.slack) }
    return takePairs()
  }

  /// What is left at the end; the shorter side ends with silence.
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
