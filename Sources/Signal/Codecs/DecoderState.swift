import COpus
import MediaCore

/// A decoder of libopus: mono, 48 kHz.
@safe
struct DecoderState: ~Copyable {
  private let pointer: OpaquePointer
  private let size: CInt

  /// Creates a decoder with a `complexity` of 0 to 10, which libopus before 1.5 ignores.
  init(complexity: Int) throws(OpusCodecError) {
    var code: CInt = 0
    let created = unsafe opus_decoder_create(48_000, 1, &code)
    guard let created = unsafe created, code == OPUS_OK else {
      throw OpusCodecError(operation: "opus_decoder_create", code: code)
    }
    unsafe pointer = created
    size = opus_decoder_get_size(1)
    _ = unsafe opus_voice_set_decoder_complexity(pointer, CInt(truncatingIfNeeded: complexity))
  }

  deinit {
    unsafe opus_decoder_destroy(pointer)
  }

  /// Copies the state of `other`.
  @_noAllocation @_noLocks
  mutating func takeOver(_ other: borrowing DecoderState) {
    unsafe opus_voice_copy_decoder(other.pointer, pointer, size)
  }

  /// Continues the last sound over `frames`; returns the frames written, 0 if it cannot.
  @_noAllocation @_noLocks
  mutating func conceal(into samples: inout SampleBuffer, frames: FrameCount) -> FrameCount {
    precondition(frames <= samples.count, "buffer too small")
    let decoded = unsafe opus_voice_decode(
      pointer,
      nil,
      0,
      samples.address,
      CInt(truncatingIfNeeded: frames),
      0
    )
    return Int(max(0, decoded))
  }

  /// Decodes the payload in `range` of `bytes` and returns the frames written, 0 if it is damaged.
  ///
  /// If `redundancy` is 1, decodes the in-band redundancy for the `frames` before the payload
  /// instead.
  @_noAllocation @_noLocks
  mutating func decode(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer,
    frames: FrameCount,
    redundancy: CInt
  ) -> FrameCount {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "range out of bounds")
    precondition(frames <= samples.count, "buffer too small")
    let decoded = unsafe opus_voice_decode(
      pointer,
      bytes.address + range.lowerBound,
      CInt(truncatingIfNeeded: range.upperBound - range.lowerBound),
      samples.address,
      CInt(truncatingIfNeeded: frames),
      redundancy
    )
    return Int(max(0, decoded))
  }
}
