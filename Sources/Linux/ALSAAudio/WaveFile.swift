/// Encoder of RIFF/WAVE files with 16-bit samples.
package enum WaveFile {
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

  private static func bytes(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
