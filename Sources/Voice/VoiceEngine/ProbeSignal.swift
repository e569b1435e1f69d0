import Glibc
package import MediaCore

/// Signal for measuring latency: each second a chirp of 50 ms from 300 to 3000 Hz.
///
/// A chirp survives speech codecs and has one sharp peak of correlation with itself.
package enum ProbeSignal {
  /// Frames of one chirp at 48 kHz.
  package static var chirpFrames: FrameCount { 2_400 }
  /// Frames from the beginning of one chirp to the next.
  package static var intervalFrames: FrameCount { 48_000 }

  /// Returns the samples of one chirp, faded in and out.
  package static func chirp() -> [Float] {
    let length = Double(chirpFrames)
    let duration = length / 48_000
    return (0..<chirpFrames).map { frame in
      let time = Double(frame) / 48_000
      let sweep = (3_000.0 - 300.0) / duration
      let phase = 2 * Double.pi * (300 * time + sweep * time * time / 2)
      let window = sin(Double.pi * (Double(frame) + 0.5) / length)
      return Float(0.5 * window * sin(phase))
    }
  }

  /// Returns a probe of the given number of seconds, at 48 kHz.
  package static func samples(seconds: Int) -> [Float] {
    let silence = [Float](repeating: 0, count: intervalFrames - chirpFrames)
    let second = chirp() + silence
    return (0..<max(0, seconds)).flatMap { _ in second }
  }

  /// Finds the beginning of `chirp` in `samples` by a matched filter, searched in `range`; nil if
  /// nothing there resembles it.
  ///
  /// The position is a frame with a fraction, from a parabola through the peak.
  package static func find(in samples: [Float], range: Range<Int>) -> Double? {
    let chirp = chirp()
    let energy = chirp.reduce(0) { $0 + $1 * $1 }
    let positions = range.clamped(to: 0..<max(0, samples.count - chirp.count))
    guard positions.count > 2 else { return nil }
    var correlation = [Float](repeating: 0, count: positions.count)
    for (index, position) in positions.enumerated() {
      var sum: Float = 0
      for frame in 0..<chirp.count { sum += chirp[frame] * samples[position + frame] }
      correlation[index] = abs(sum)
    }
    var best = 0
    for index in 0..<correlation.count where correlation[index] > correlation[best] { best = index }
    let start = positions.lowerBound + best
    var received: Float = 1e-9
    for frame in 0..<chirp.count { received += samples[start + frame] * samples[start + frame] }
    guard correlation[best] / (energy * received).squareRoot() > 0.4 else { return nil }
    guard best > 0, best + 1 < correlation.count else { return Double(start) }
    let left = Double(correlation[best - 1])
    let peak = Double(correlation[best])
    let right = Double(correlation[best + 1])
    let curvature = left - 2 * peak + right
    return Double(start) + (curvature == 0 ? 0 : 0.5 * (left - right) / curvature)
  }
}
