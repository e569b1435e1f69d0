/// The two laws of ITU-T G.711: 8-bit logarithmic samples at 8 kHz, which every telephone has.
package enum G711 {
  /// Samples per second of both laws (RFC 3551 section 4.5.14).
  package static var sampleRateHertz: Int { @_noAllocation @_noLocks get { 8_000 } }

  /// A logarithmic law of G.711.
  package enum Law: Sendable, BitwiseCopyable {
    /// PCMU, payload type 0.
    case mu
    /// PCMA, payload type 8.
    case a
  }

  /// Returns the G.711 code of a sample, clipped to -1 to 1; NaN and infinities count as 0.
  @_noAllocation @_noLocks
  package static func encode(_ sample: Float, law: Law) -> UInt8 {
    let scaled = (sample.isFinite ? max(-1, min(1, sample)) : 0) * 32_767
    switch law {
    case .mu: return encodeMu(Int(scaled))
    case .a: return encodeA(Int(scaled))
    }
  }

  /// Returns the sample of a code, from -1 to 1.
  @_noAllocation @_noLocks
  package static func decode(_ code: UInt8, law: Law) -> Float {
    switch law {
    case .mu: return Float(decodeMu(code)) / 32_768
    case .a: return Float(decodeA(code)) / 32_768
    }
  }

  // Mu-law works on 14 bits with a bias of 33, written here for 16 bits: bias 132, clip 32635.
  @_noAllocation @_noLocks
  private static func encodeMu(_ sample: Int) -> UInt8 {
    let magnitude = min(abs(sample), 32_635) + 132
    let segment = 15 - UInt16(magnitude).leadingZeroBitCount - 7
    let mantissa = (magnitude &>> (segment + 3)) & 0x0F
    let sign: UInt8 = sample < 0 ? 0x80 : 0
    return ~(sign | UInt8(segment &<< 4) | UInt8(mantissa))
  }

  @_noAllocation @_noLocks
  private static func decodeMu(_ code: UInt8) -> Int {
    let bits = ~code
    let segment = Int(bits &>> 4) & 0x07
    let magnitude = ((Int(bits & 0x0F) &<< 3) + 132) &<< segment
    return bits & 0x80 != 0 ? 132 - magnitude : magnitude - 132
  }

  // A-law: 13 bits, even bits inverted on the line.
  @_noAllocation @_noLocks
  private static func encodeA(_ sample: Int) -> UInt8 {
    let magnitude = (sample < 0 ? -sample - 1 : sample) &>> 3
    let sign: UInt8 = sample < 0 ? 0 : 0x80
    var code: Int
    if magnitude < 32 {
      code = magnitude &>> 1
    } else {
      let segment = 15 - UInt16(magnitude).leadingZeroBitCount - 4
      code = segment &<< 4 | (magnitude &>> segment) & 0x0F
    }
    code = min(code, 0x7F)
    return (sign | UInt8(code)) ^ 0x55
  }

  @_noAllocation @_noLocks
  private static func decodeA(_ code: UInt8) -> Int {
    let bits = code ^ 0x55
    let segment = Int(bits &>> 4) & 0x07
    var magnitude = Int(bits & 0x0F) &<< 4 + 8
    if segment > 0 { magnitude += 0x100 }
    if segment > 1 { magnitude <<= segment - 1 }
    return bits & 0x80 != 0 ? magnitude : -magnitude
  }
}
