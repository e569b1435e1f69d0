import COpus
package import MediaCore

/// An Opus encoder for one voice: mono, 48 kHz (RFC 6716).
///
/// **Thread safety:** one thread at a time. **Cost:** look-ahead is 2.5 ms for `.lowDelay` and
/// 6.5 ms for `.speech`, whatever the frame.
@safe
package struct OpusVoiceEncoder: ~Copyable {
  /// Use that the encoder is tuned for; it cannot be changed later.
  package enum Application: Sendable, BitwiseCopyable {
    /// SILK, hybrid and CELT, with in-band redundancy and DTX.
    case speech
    /// CELT only: 4 ms less look-ahead, no in-band redundancy.
    case lowDelay
  }

  /// Greatest length, in bytes, of a payload that only signals silence (DTX).
  package static var silenceBytes: Int { @_noAllocation @_noLocks get { 2 } }

  /// Algorithmic delay of the encoder, in frames at 48 kHz.
  package let lookAhead: FrameCount
  private let encoder: OpaquePointer

  /// Creates an encoder at `bitrate` bits per second, 6000 to 510000, and a complexity of 0 to 10.
  package init(
    application: Application,
    bitrate: Int,
    complexity: Int = 9
  ) throws(OpusCodecError) {
    var code: CInt = 0
    let mode = application == .speech ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_RESTRICTED_LOWDELAY
    let created = unsafe opus_encoder_create(48_000, 1, mode, &code)
    guard let created = unsafe created, code == OPUS_OK else {
      throw OpusCodecError(operation: "opus_encoder_create", code: code)
    }
    code = unsafe opus_voice_configure(created, CInt(complexity))
    if code == OPUS_OK { code = unsafe opus_voice_set_bitrate(created, CInt(clamping: bitrate)) }
    guard code == OPUS_OK else {
      unsafe opus_encoder_destroy(created)
      throw OpusCodecError(operation: "opus_encoder_ctl", code: code)
    }
    unsafe encoder = created
    lookAhead = unsafe Int(opus_voice_lookahead(created))
  }

  deinit {
    unsafe opus_encoder_destroy(encoder)
  }

  /// Encodes `frames` of `samples` from `start` on: 120, 240, 480, 960, 1920 or 2880.
  ///
  /// The payload goes to `packet` from `offset` on, where 1276 bytes are enough for 960 frames and
  /// fewer; longer ones are limited to the room left. Returns its length, `silenceBytes` or less
  /// when DTX found silence, 0 if `frames` is no legal length.
  @_noAllocation @_noLocks
  package mutating func encode(
    _ samples: borrowing SampleBuffer,
    from start: Int = 0,
    frames: FrameCount,
    into packet: inout ByteBuffer,
    at offset: Int
  ) -> Int {
    precondition(start >= 0 && start + frames <= samples.count, "buffer too small")
    precondition(offset < packet.count, "buffer too small")
    let length = unsafe opus_voice_encode(
      encoder,
      samples.address + start,
      CInt(truncatingIfNeeded: frames),
      packet.address + offset,
      CInt(truncatingIfNeeded: packet.count - offset)
    )
    return Int(max(0, length))
  }

  /// Changes the bit rate from the next frame on.
  @_noAllocation @_noLocks
  package mutating func setBitrate(_ bitsPerSecond: Int) {
    _ = unsafe opus_voice_set_bitrate(encoder, CInt(truncatingIfNeeded: bitsPerSecond))
  }

  /// Enables in-band redundancy (FEC), and sets the packet loss that it is made for, 0 to 100 %.
  @_noAllocation @_noLocks
  package mutating func setRedundancy(enabled: Bool, expectedLossPercent: Int) {
    _ = unsafe opus_voice_set_redundancy(encoder, enabled ? 1 : 0)
    _ = unsafe opus_voice_set_loss(encoder, CInt(truncatingIfNeeded: expectedLossPercent))
  }

  /// Resets the encoder to its state after creation, except for its settings.
  @_noAllocation @_noLocks
  package mutating func reset() {
    _ = unsafe opus_voice_reset(encoder)
  }

  /// Makes packets decodable without those before them, at the cost of quality.
  @_noAllocation @_noLocks
  package mutating func setIndependent(_ isIndependent: Bool) {
    _ = unsafe opus_voice_set_independent(encoder, isIndependent ? 1 : 0)
  }

  /// Enables discontinuous transmission (DTX).
  @_noAllocation @_noLocks
  package mutating func setDiscontinuousTransmission(enabled: Bool) {
    _ = unsafe opus_voice_set_dtx(encoder, enabled ? 1 : 0)
  }

  /// Makes all packets of a duration equally long, or lets their length vary with the speech.
  @_noAllocation @_noLocks
  package mutating func setConstantBitRate(enabled: Bool) {
    _ = unsafe opus_voice_set_constant(encoder, enabled ? 1 : 0)
  }
}

// SAFETY: libopus keeps all state behind the pointer, which has this one owner.
extension OpusVoiceEncoder: @unchecked Sendable {}
