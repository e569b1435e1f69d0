import COpus
package import MediaCore

/// An Opus decoder for one voice, with mono output at 48 kHz whatever was encoded (RFC 6716).
///
/// Decoding depends on the packets decoded before. Concealment therefore runs in a copy of the
/// decoder, so that packets that arrive late are decoded as if they had been in time. `pass` moves
/// the decoder over a loss; without it, all concealed frames count as lost.
///
/// **Thread safety:** one thread at a time.
@safe
package struct OpusVoiceDecoder: ~Copyable {
  /// The longest packet: 120 ms.
  package static var maximumFrames: FrameCount { @_noAllocation @_noLocks get { 5_760 } }

  /// Longest loss, 100 ms at 48 kHz, after which concealment retains nothing of the voice.
  private static var longestLoss: FrameCount { @_noAllocation @_noLocks get { 4_800 } }

  private var decoder: DecoderState
  /// Copy of the decoder that conceals losses.
  private var concealment: DecoderState
  private var concealedFrames: FrameCount = 0
  /// True until the decoder itself moves after the concealment began.
  private var isConcealmentNewer = false

  /// A decoder in its initial state.
  ///
  /// From libopus 1.5 on, a neural network conceals losses with a `complexity` of 5 and more, and
  /// another one improves low bit rates with 6 and, at more cost, 7. Earlier releases ignore it.
  package init(complexity: Int = 0) throws(OpusCodecError) {
    let decoder = try DecoderState(complexity: complexity)
    let concealment = try DecoderState(complexity: complexity)
    self.init(decoder, concealment)
  }

  private init(_ decoder: consuming DecoderState, _ concealment: consuming DecoderState) {
    self.decoder = decoder
    self.concealment = concealment
  }

  /// Returns the duration in frames of the payload in `range` of `bytes`, from its table of
  /// contents (RFC 6716 section 3.1); nil if it is malformed or longer than 120 ms.
  @_noAllocation @_noLocks
  package static func frames(of bytes: borrowing ByteBuffer, in range: Range<Int>) -> FrameCount? {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "range out of bounds")
    let frames = unsafe opus_voice_packet_frames(
      bytes.address + range.lowerBound,
      CInt(truncatingIfNeeded: range.upperBound - range.lowerBound)
    )
    return frames > 0 && Int(frames) <= maximumFrames ? Int(frames) : nil
  }

  /// Returns the length in frames of the in-band FEC (LBRR) of the payload in `range` of `bytes`:
  /// that of one Opus frame, or 0.
  ///
  /// It is read from the flags that begin the payload's first SILK frame, wherever it lies (RFC
  /// 6716 section 4.2.3); those of the frames after it stand for frames of the same payload.
  @_noAllocation @_noLocks
  package static func redundantFrames(
    of bytes: borrowing ByteBuffer,
    in range: Range<Int>
  ) -> FrameCount {
    precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "range out of bounds")
    return unsafe Int(
      opus_voice_redundant_frames(
        bytes.address + range.lowerBound,
        CInt(truncatingIfNeeded: range.upperBound - range.lowerBound)
      )
    )
  }

  /// Decodes the payload in `range` of `bytes` and returns the frames written to `samples`, 0 if it
  /// is damaged.
  ///
  /// `samples` needs `maximumFrames`.
  @_noAllocation @_noLocks
  package mutating func decode(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer
  ) -> FrameCount {
    adoptConcealment()
    let capacity = samples.count
    return decoder.decode(bytes, in: range, into: &samples, frames: capacity, redundancy: 0)
  }

  /// Decodes the in-band redundancy of the payload in `range` of `bytes`, which stands for the
  /// `frames` before it (`redundantFrames`).
  ///
  /// Without redundancy the decoder conceals.
  @_noAllocation @_noLocks
  package mutating func recover(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer,
    frames: FrameCount
  ) -> FrameCount {
    adoptConcealment()
    return decoder.decode(bytes, in: range, into: &samples, frames: frames, redundancy: 1)
  }

  // Unless `pass` has changed it.
  @_noAllocation @_noLocks
  private mutating func adoptConcealment() {
    guard concealedFrames > 0, isConcealmentNewer else { return }
    decoder.takeOver(concealment)
    concealedFrames = 0
  }

  /// Continues the last sound over `frames`, a multiple of 120: concealment, or comfort noise
  /// after DTX.
  ///
  /// The decoder itself does not move.
  @_noAllocation @_noLocks
  package mutating func conceal(into samples: inout SampleBuffer, frames: FrameCount) -> FrameCount
  {
    if concealedFrames == 0 {
      concealment.takeOver(decoder)
      isConcealmentNewer = true
    }
    concealedFrames += frames
    return concealment.conceal(into: &samples, frames: frames)
  }

  /// Prepares the decoder for the packet after a loss of `frames`, at 48 kHz.
  ///
  /// The decoder adopts the state of `conceal` if that covered no more than the loss, or if the
  /// loss is longer than 100 ms. Otherwise the decoder conceals the loss itself, in blocks of 120
  /// frames, into `scratch` (at least 4,800 frames), and `conceal` goes on from its own state until
  /// `endConcealment`. Without concealment since the last packet nothing changes.
  ///
  /// - Returns: false if `conceal` goes on from its own state; `conceal` may then be called before
  ///   the next packet is decoded, for a cross-fade.
  @_noAllocation @_noLocks
  package mutating func pass(_ frames: FrameCount, using scratch: inout SampleBuffer) -> Bool {
    guard concealedFrames > 0 else { return true }
    let isFollowed = isConcealmentNewer && (concealedFrames <= frames || frames > Self.longestLoss)
    if isFollowed {
      decoder.takeOver(concealment)
    } else if frames >= 120, frames <= Self.longestLoss {
      _ = decoder.conceal(into: &scratch, frames: frames / 120 * 120)
    }
    isConcealmentNewer = false
    return isFollowed
  }

  /// Makes the next `conceal` continue the sound that was decoded last.
  @_noAllocation @_noLocks
  package mutating func endConcealment() { concealedFrames = 0 }
}
