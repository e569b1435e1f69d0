import COpus
public import MediaTime

/// An Opus decoder for one voice: mono out, 48 kHz, whatever was encoded (RFC 6716).
///
/// **Thread safety:** one thread at a time.
@safe
public struct OpusVoiceDecoder: ~Copyable {
  /// The longest packet: 120 ms.
  @inlinable public static var maximumFrames: FrameCount { 5_760 }

  private let decoder: OpaquePointer

  /// A decoder in its initial state.
  public init() throws(OpusCodecError) {
    var code: CInt = 0
    let created = unsafe opus_decoder_create(48_000, 1, &code)
    guard let created = unsafe created, code == OPUS_OK else {
      throw OpusCodecError(operation: "opus_decoder_create", code: code)
    }
    unsafe decoder = created
  }

  deinit {
    unsafe opus_decoder_destroy(decoder)
  }

  /// The duration in frames of the payload in `range` of `bytes`, from its table of contents
  /// (RFC 6716 section 3.1); nil if it is malformed or longer than 120 ms.
  @_noAllocation @_noLocks
  public static func frames(of bytes: borrowing ByteBuffer, in range: Range<Int>) -> FrameCount? {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "range out of bounds")
    let frames = unsafe opus_voice_packet_frames(
      bytes.address + range.lowerBound,
      CInt(truncatingIfNeeded: range.upperBound - range.lowerBound)
    )
    return frames > 0 && Int(frames) <= maximumFrames ? Int(frames) : nil
  }

  /// True if the payload in `range` of `bytes` brings the frame before it once more.
  ///
  /// Told by the flags that begin a SILK frame (RFC 6716 section 4.2.3); only payloads of one Opus frame in mono are
  /// looked into.
  @_noAllocation @_noLocks
  public static func carriesRedundancy(_ bytes: borrowing ByteBuffer, in range: Range<Int>) -> Bool
  {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "range out of bounds")
    guard range.upperBound - range.lowerBound > 2 else { return false }
    let contents = bytes[range.lowerBound]
    let configuration = contents &>> 3
    // CELT alone has none; bit 2 is stereo, the lowest two count frames.
    guard configuration < 16, contents & 7 == 0 else { return false }
    // A voice activity flag for each 20 ms comes first.
    let silkFrames: UInt8
    switch configuration < 12 ? configuration & 3 : configuration & 1 {
    case 2 where configuration < 12: silkFrames = 2
    case 3: silkFrames = 3
    default: silkFrames = 1
    }
    return bytes[range.lowerBound + 1] & (0x80 &>> silkFrames) != 0
  }

  /// Decodes the payload in `range` of `bytes` and returns the frames written to `samples`, 0 if it
  /// is damaged.
  ///
  /// `samples` needs `maximumFrames`.
  @_noAllocation @_noLocks
  public mutating func decode(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer
  ) -> FrameCount {
    let capacity = samples.count
    return run(bytes, in: range, into: &samples, frames: capacity, redundancy: 0)
  }

  /// Decodes the in-band redundancy of the payload in `range` of `bytes`, which stands for the
  /// `frames` before it.
  ///
  /// Without redundancy the decoder conceals.
  @_noAllocation @_noLocks
  public mutating func recover(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer,
    frames: FrameCount
  ) -> FrameCount {
    run(bytes, in: range, into: &samples, frames: frames, redundancy: 1)
  }

  /// Continues the last sound over `frames`, a multiple of 120: concealment, or comfort noise
  /// after DTX.
  @_noAllocation @_noLocks
  public mutating func conceal(into samples: inout SampleBuffer, frames: FrameCount) -> FrameCount {
    precondition(frames <= samples.count, "buffer too small")
    let decoded = unsafe opus_voice_decode(
      decoder,
      nil,
      0,
      samples.address,
      CInt(truncatingIfNeeded: frames),
      0
    )
    return Int(max(0, decoded))
  }

  @_noAllocation @_noLocks
  private mutating func run(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer,
    frames: FrameCount,
    redundancy: CInt
  ) -> FrameCount {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "range out of bounds")
    precondition(frames <= samples.count, "buffer too small")
    let decoded = unsafe opus_voice_decode(
      decoder,
      bytes.address + range.lowerBound,
      CInt(truncatingIfNeeded: range.upperBound - range.lowerBound),
      samples.address,
      CInt(truncatingIfNeeded: frames),
      redundancy
    )
    return Int(max(0, decoded))
  }
}

// SAFETY: libopus keeps all state behind the pointer, which has this one owner.
extension OpusVoiceDecoder: @unchecked Sendable {}
