import CALSA
import MediaCore

/// The bytes of interleaved frames on their way to or from a card.
typealias FixedBytes = FixedArray<UInt8>

/// The layout of one sample on a sound card.
///
/// In order of preference, least conversion first: hardware seldom has floats, and a plugin that
/// accepts them passes them on or converts them itself.
enum SampleFormat: CaseIterable, Sendable {
  case float32, int16, int32, int24Packed, int24

  var alsa: snd_pcm_format_t {
    switch self {
    case .int16: SND_PCM_FORMAT_S16_LE
    case .int32: SND_PCM_FORMAT_S32_LE
    case .float32: SND_PCM_FORMAT_FLOAT_LE
    case .int24Packed: SND_PCM_FORMAT_S24_3LE
    case .int24: SND_PCM_FORMAT_S24_LE
    }
  }

  var bytesPerSample: Int {
    @_noAllocation @_noLocks get {
      switch self {
      case .int16: 2
      case .int24Packed: 3
      case .int32, .float32, .int24: 4
      }
    }
  }

  /// True if a sample is laid out as `Float` is.
  var isFloat: Bool {
    @_noAllocation @_noLocks get {
      if case .float32 = self { return true }
      return false
    }
  }

  /// Reads `count` samples from a mono stream of floats; those that are not finite become 0.
  @_noAllocation @_noLocks
  func load(_ bytes: borrowing FixedBytes, count: FrameCount, into block: inout SampleBuffer) {
    precondition(4 * count <= bytes.count && count <= block.count, "buffer too small")
    let source = unsafe UnsafeRawPointer(bytes.address)
    let target = unsafe block.address
    for index in 0..<count {
      let sample = unsafe source.loadUnaligned(fromByteOffset: 4 * index, as: Float.self)
      unsafe target[index] = sample.isFinite ? sample : 0
    }
  }

  /// Writes `count` samples to a mono stream of floats, clipped to -1 to 1.
  @_noAllocation @_noLocks
  func store(_ block: borrowing SampleBuffer, count: FrameCount, to bytes: inout FixedBytes) {
    precondition(4 * count <= bytes.count && count <= block.count, "buffer too small")
    let source = unsafe block.address
    let target = unsafe UnsafeMutableRawPointer(bytes.address)
    for index in 0..<count {
      let sample = unsafe source[index]
      let clipped = sample.isFinite ? max(-1, min(1, sample)) : 0
      unsafe target.storeBytes(of: clipped, toByteOffset: 4 * index, as: Float.self)
    }
  }

  /// The sample at `offset` of `bytes`, from -1 to 1.
  @_noAllocation @_noLocks
  func load(_ bytes: borrowing FixedBytes, at offset: Int) -> Float {
    switch self {
    case .int16:
      let bits = UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) &<< 8
      return Float(Int16(bitPattern: bits)) / 32_768
    case .int24Packed, .int24:
      let bits =
        UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) &<< 8 | UInt32(bytes[offset + 2]) &<< 16
      return Float(Int32(bitPattern: bits &<< 8) &>> 8) / 8_388_608
    case .int32:
      return Float(Int32(bitPattern: loadWord(bytes, at: offset))) / 2_147_483_648
    case .float32:
      let value = Float(bitPattern: loadWord(bytes, at: offset))
      return value.isFinite ? value : 0
    }
  }

  /// Writes `sample`, clipped to -1 to 1, at `offset` of `bytes`.
  @_noAllocation @_noLocks
  func store(_ sample: Float, to bytes: inout FixedBytes, at offset: Int) {
    let clipped = sample.isFinite ? max(-1, min(1, sample)) : 0
    switch self {
    case .int16:
      let bits = UInt16(bitPattern: Int16(clipped * 32_767))
      bytes[offset] = UInt8(truncatingIfNeeded: bits)
      bytes[offset + 1] = UInt8(truncatingIfNeeded: bits &>> 8)
    case .int24Packed:
      let bits = UInt32(bitPattern: Int32(clipped * 8_388_607))
      bytes[offset] = UInt8(truncatingIfNeeded: bits)
      bytes[offset + 1] = UInt8(truncatingIfNeeded: bits &>> 8)
      bytes[offset + 2] = UInt8(truncatingIfNeeded: bits &>> 16)
    case .int24:
      storeWord(UInt32(bitPattern: Int32(clipped * 8_388_607)), to: &bytes, at: offset)
    case .int32:
      storeWord(UInt32(bitPattern: Int32(Double(clipped) * 2_147_483_647)), to: &bytes, at: offset)
    case .float32:
      storeWord(clipped.bitPattern, to: &bytes, at: offset)
    }
  }

  @_noAllocation @_noLocks
  private func loadWord(_ bytes: borrowing FixedBytes, at offset: Int) -> UInt32 {
    UInt32(bytes[offset]) | UInt32(bytes[offset + 1]) &<< 8 | UInt32(bytes[offset + 2]) &<< 16
      | UInt32(bytes[offset + 3]) &<< 24
  }

  @_noAllocation @_noLocks
  private func storeWord(_ word: UInt32, to bytes: inout FixedBytes, at offset: Int) {
    bytes[offset] = UInt8(truncatingIfNeeded: word)
    bytes[offset + 1] = UInt8(truncatingIfNeeded: word &>> 8)
    bytes[offset + 2] = UInt8(truncatingIfNeeded: word &>> 16)
    bytes[offset + 3] = UInt8(truncatingIfNeeded: word &>> 24)
  }
}
