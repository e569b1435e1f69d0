import Foundation

/// Pure tones in place of voices, so that a recording shows which party was received when.
enum Tones {
  private static let rate = 48_000

  /// Writes a tone as a WAV file of 16-bit mono at 48 kHz.
  static func write(hertz: Double, seconds: Int, to file: URL) throws {
    var data = Data("RIFF".utf8)
    func append<Value: FixedWidthInteger>(_ value: Value) {
      unsafe withUnsafeBytes(of: value.littleEndian) { unsafe data.append(contentsOf: $0) }
    }
    let count = rate * seconds
    append(UInt32(36 + 2 * count))
    data += Data("WAVEfmt ".utf8)
    append(UInt32(16))
    append(UInt16(1))
    append(UInt16(1))
    append(UInt32(rate))
    append(UInt32(2 * rate))
    append(UInt16(2))
    append(UInt16(16))
    data += Data("data".utf8)
    append(UInt32(2 * count))
    for index in 0..<count {
      append(Int16(6_000 * sin(2 * .pi * hertz * Double(index) / Double(rate))))
    }
    try data.write(to: file)
  }

  /// Presence of a tone in each tenth of a second of a recording.
  static func presence(of hertz: Double, in file: URL) throws -> [Bool] {
    let data = try Data(contentsOf: file)
    let samples = stride(from: 44, to: data.count - 1, by: 2).map { index in
      Double(Int16(bitPattern: UInt16(data[index]) | UInt16(data[index + 1]) << 8))
    }
    let block = rate / 10
    return stride(from: 0, to: samples.count - block, by: block).map { start in
      var real = 0.0
      var imaginary = 0.0
      for index in 0..<block {
        let phase = 2 * .pi * hertz * Double(index) / Double(rate)
        real += samples[start + index] * cos(phase)
        imaginary += samples[start + index] * sin(phase)
      }
      return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(block) > 1_000
    }
  }
}
