import Foundation
import MediaCore

/// Sounds at 48 kHz for the filters.
enum FilterSounds {
  /// Returns noise of -26 dBFS, whose power is equal at all frequencies.
  static func white(seconds: Int, seed: UInt64) -> [Float] {
    var generator = SeededGenerator(seed: seed)
    return level((0..<seconds * 48_000).map { _ in Float.random(in: -1...1, using: &generator) })
  }

  /// Returns noise of -26 dBFS, whose power falls by 3 dB an octave.
  static func pink(seconds: Int, seed: UInt64) -> [Float] {
    // Sum of octaves, each renewed half as often as the one before (Voss and McCartney).
    var generator = SeededGenerator(seed: seed)
    var octaves = [Float](repeating: 0, count: 14)
    return level(
      (1...seconds * 48_000).map { frame in
        let octave = min(octaves.count - 1, frame.trailingZeroBitCount)
        octaves[octave] = Float.random(in: -1...1, using: &generator)
        return octaves.reduce(0, +) + Float.random(in: -1...1, using: &generator)
      }
    )
  }

  /// Returns the sentences one after another, again and again, each at -26 dBFS, with pauses of
  /// half a second.
  static func speech(_ sentences: [[Float]], seconds: Int) -> [Float] {
    var sound: [Float] = []
    var next = 0
    while sound.count < seconds * 48_000 {
      sound += [Float](repeating: 0, count: 24_000) + level(sentences[next % sentences.count])
      next += 1
    }
    return Array(sound[..<(seconds * 48_000)])
  }

  /// Returns the sound at another level, in dBFS.
  static func level(_ sound: [Float], _ decibels: Double = -26) -> [Float] {
    let gain = Float(pow(10, (decibels - self.decibels(sound[...])) / 20))
    return sound.map { $0 * gain }
  }

  /// Returns the level of a sound in dBFS.
  static func decibels(_ sound: ArraySlice<Float>) -> Double {
    let power = sound.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(1, sound.count))
    return 10 * log10(max(power, 1e-12))
  }

  /// Returns the echo of a sound: the direct coupling after 3 ms, and a decay of 60 dB in 60 ms.
  static func echo(of sound: [Float], _ decibels: Double) -> [Float] {
    var generator = SeededGenerator(seed: 7)
    let path = (0..<40).map { tap in
      Float(pow(10, -3 * Double(tap) / 40)) * Float.random(in: -1...1, using: &generator)
    }
    var echo = [Float](repeating: 0, count: sound.count)
    // A reflection each millisecond and a half.
    for (tap, gain) in path.enumerated() {
      let delay = 144 + 72 * tap
      guard delay < sound.count else { break }
      for frame in delay..<sound.count { echo[frame] += gain * sound[frame - delay] }
    }
    return level(echo, self.decibels(sound[...]) + decibels)
  }

  static func sum(_ one: [Float], _ other: [Float]) -> [Float] {
    zip(one, other).map { $0 + $1 }
  }
}
