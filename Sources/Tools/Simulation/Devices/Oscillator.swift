import MediaCore

/// Oscillator that paces a sound card, at its nominal rate plus a deviation.
///
/// The rate is rounded to a millihertz. Integer arithmetic makes every machine simulate the same.
struct Oscillator: Sendable {
  private static let second: Int64 = 1_000_000_000
  private let millihertz: Int64

  /// Creates an oscillator that is `partsPerMillion` too fast (too slow, if negative).
  init(_ rate: SampleRate = .voice, partsPerMillion: Int) {
    let drift = Int64(max(-100_000, min(100_000, partsPerMillion)))
    millihertz = Int64(rate.hertz) * 1_000 + Int64(rate.hertz) * drift / 1_000
  }

  /// Returns the whole frames in that many nanoseconds.
  func frames(in nanoseconds: Int64) -> Int64 {
    let seconds = nanoseconds / Self.second
    let rest = nanoseconds % Self.second
    return (seconds * millihertz + rest * millihertz / Self.second) / 1_000
  }

  /// Returns the first nanosecond at which that many frames have passed.
  func nanoseconds(of frames: Int64) -> Int64 {
    let parts = frames * 1_000
    let rest = parts % millihertz
    return parts / millihertz * Self.second + (rest * Self.second + millihertz - 1) / millihertz
  }
}
