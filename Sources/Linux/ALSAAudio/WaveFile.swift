/// Mono sound as a RIFF/WAVE file holds it.
package struct WaveFile: Equatable, Sendable {
  /// Frames per second.
  package var rateHertz: Int
  /// Samples from -1 to 1; several channels are averaged.
  package var samples: [Float]

  /// Sound at the given rate.
  package init(rateHertz: Int, samples: [Float]) {
    self.rateHertz = rateHertz
    self.samples = samples
  }

  /// Why bytes are not a sound file.
  package enum ParseError: Error, Equatable, Sendable {
    /// It does not begin with RIFF and WAVE.
    case notWave
    /// It ends before its sound, or its description makes no sense.
    case damaged
    /// It holds something else than 16, 24 or 32-bit integers or 32-bit floats.
    case unsupported
  }

  /// Parses a file: PCM of 16, 24 or 32 bits or 32-bit float, any channels, 1 kHz to 384 kHz.
  ///
  /// A sound chunk that promises more than there is (a recording cut off) ends with the file.
  package init(parsing file: [UInt8]) throws(ParseError) {
    guard file.count >= 12, Self.tag(file, 0) == "RIFF", Self.tag(file, 8) == "WAVE" else {
      throw .notWave
    }
    var layout: Layout?
    var offset = 12
    while offset + 8 <= file.count {
      let size = Self.integer(file, offset + 4, 4)
      let body = offset + 8
      let end = min(file.count, body + size)
      switch Self.tag(file, offset) {
      case "fmt ":
        layout = try Layout(file: file, body: body, end: end)
      case "data":
        guard let layout else { throw .damaged }
        rateHertz = layout.rateHertz
        samples = layout.decode(file, body, end)
        return
      default:
        break
      }
      offset = body + size + size % 2
    }
    throw .damaged
  }

  /// The 44-byte header of a 16-bit file with the given number of samples in all of its channels,
  /// of which there are 1 to 127.
  package static func header(
    rateHertz: Int,
    sampleCount: Int,
    channels: UInt8 = 1
  ) -> [UInt8] {
    let size = UInt32(clamping: min(sampleCount * 2, Int(UInt32.max) - 36))
    let rate = UInt32(clamping: rateHertz)
    let frame = 2 * channels
    return Array("RIFF".utf8) + bytes(size + 36) + Array("WAVEfmt ".utf8) + bytes(16)
      + [1, 0, channels, 0] + bytes(rate) + bytes(rate * UInt32(frame)) + [frame, 0, 16, 0]
      + Array("data".utf8) + bytes(size)
  }

  /// 16-bit little-endian samples, clipped.
  package static func encode(_ samples: [Float]) -> [UInt8] {
    samples.flatMap { sample -> [UInt8] in
      let clipped = sample.isFinite ? max(-1, min(1, sample)) : 0
      let bits = UInt16(bitPattern: Int16(clipped * 32_767))
      return [UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)]
    }
  }

  private struct Layout {
    let isFloat: Bool
    let channels: Int
    let rateHertz: Int
    let bytesPerSample: Int

    init(file: [UInt8], body: Int, end: Int) throws(ParseError) {
      guard end - body >= 16 else { throw .damaged }
      var code = WaveFile.integer(file, body, 2)
      // Extensible: the true code is the beginning of the sub-format.
      if code == 0xFFFE, end - body >= 26 { code = WaveFile.integer(file, body + 24, 2) }
      channels = WaveFile.integer(file, body + 2, 2)
      rateHertz = WaveFile.integer(file, body + 4, 4)
      let bits = WaveFile.integer(file, body + 14, 2)
      isFloat = code == 3
      bytesPerSample = bits / 8
      guard channels > 0, (1_000...384_000).contains(rateHertz) else { throw .damaged }
      let isKnown =
        (code == 1 && (bits == 16 || bits == 24 || bits == 32)) || (code == 3 && bits == 32)
      guard isKnown else { throw .unsupported }
    }

    func decode(_ file: [UInt8], _ body: Int, _ end: Int) -> [Float] {
      let frameBytes = bytesPerSample * channels
      let frames = max(0, end - body) / frameBytes
      return (0..<frames).map { frame in
        var sum: Float = 0
        for channel in 0..<channels {
          let at = body + frame * frameBytes + channel * bytesPerSample
          let bits = UInt32(WaveFile.integer(file, at, bytesPerSample))
          if isFloat {
            let value = Float(bitPattern: bits)
            sum += value.isFinite ? max(-1, min(1, value)) : 0
          } else {
            // Shifted to the top of 32 bits, so that one division serves every width.
            let shifted = Int32(bitPattern: bits << UInt32(32 - 8 * bytesPerSample))
            sum += Float(shifted) / 2_147_483_648
          }
        }
        return sum / Float(channels)
      }
    }
  }

  private static func tag(_ file: [UInt8], _ offset: Int) -> String {
    String(decoding: file[offset..<offset + 4], as: UTF8.self)
  }

  private static func integer(_ file: [UInt8], _ offset: Int, _ count: Int) -> Int {
    (0..<count).reduce(0) { $0 | Int(file[offset + $1]) << (8 * $1) }
  }

  private static func bytes(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
