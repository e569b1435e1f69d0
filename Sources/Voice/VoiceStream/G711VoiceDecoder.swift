import Codecs
import MediaCore
import SpeechDSP

/// A decoder of G.711 for one voice, with mono output at 48 kHz.
///
/// As with `OpusVoiceDecoder`, concealment runs in a copy of the decoder, so that packets that
/// arrive late are decoded as if they had been in time.
struct G711VoiceDecoder: ~Copyable {
  /// Ratio of 48 kHz to 8 kHz.
  private static var widening: Int { @_noAllocation @_noLocks get { 6 } }
  /// Longest payload in bytes, 120 ms.
  private static var longestPacket: Int { @_noAllocation @_noLocks get { 960 } }

  private let law: G711.Law
  private var decoder: NarrowbandVoice
  /// Copy of the decoder that conceals losses.
  private var concealment: NarrowbandVoice
  private var continuation = PitchContinuation()
  private var concealedFrames: FrameCount = 0
  private var narrowband = SampleBuffer(repeating: 0, count: 960)

  init(law: G711.Law) throws(SpeechDSPError) {
    let decoder = try NarrowbandVoice()
    let concealment = try NarrowbandVoice()
    self.init(law, decoder, concealment)
  }

  private init(
    _ law: G711.Law,
    _ decoder: consuming NarrowbandVoice,
    _ concealment: consuming NarrowbandVoice
  ) {
    self.law = law
    self.decoder = decoder
    self.concealment = concealment
  }

  /// Number of frames decoded after a loss that still depend on concealment, as the resampler looks
  /// 3 ms ahead.
  static var convergenceFrames: FrameCount { @_noAllocation @_noLocks get { 144 } }

  /// Returns the duration in frames of a payload of `byteCount` bytes, nil if it is empty or longer
  /// than 120 ms.
  @_noAllocation @_noLocks
  static func frames(byteCount: Int) -> FrameCount? {
    byteCount > 0 && byteCount <= longestPacket ? byteCount * widening : nil
  }

  /// Decodes the payload in `range` of `bytes`, of 120 ms at most, and returns the frames written
  /// to `samples`.
  @_noAllocation @_noLocks
  mutating func decode(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer
  ) -> FrameCount {
    let count = min(range.upperBound - range.lowerBound, narrowband.count)
    for index in 0..<count {
      narrowband[index] = G711.decode(bytes[range.lowerBound + index], law: law)
    }
    return decoder.say(narrowband, count: count, into: &samples)
  }

  /// Continues the last sound over `frames`, a multiple of 120; the decoder itself does not move.
  @_noAllocation @_noLocks
  mutating func conceal(into samples: inout SampleBuffer, frames: FrameCount) -> FrameCount {
    let count = min(frames / Self.widening, narrowband.count)
    if concealedFrames == 0 {
      concealment.takeOver(decoder, using: &samples)
      continuation.begin(after: decoder.played)
    }
    concealedFrames += count * Self.widening
    for index in 0..<count { narrowband[index] = continuation.next() }
    return concealment.say(narrowband, count: count, into: &samples)
  }

  /// Prepares the decoder for the packet after a loss of `frames`; returns false if more than that
  /// was concealed.
  ///
  /// `conceal` then goes on from its own state until `endConcealment`. Each packet is decoded by
  /// itself: the sound before it matters to the resampler alone, for 3 ms.
  @_noAllocation @_noLocks
  mutating func pass(_ frames: FrameCount, using scratch: inout SampleBuffer) -> Bool {
    guard concealedFrames > 0 else { return true }
    guard frames > 0 else { return false }
    decoder.takeOver(concealment, using: &scratch)
    return concealedFrames <= frames
  }

  /// Makes the next `conceal` continue the sound that was decoded last.
  @_noAllocation @_noLocks
  mutating func endConcealment() { concealedFrames = 0 }
}

/// The latest samples at 8 kHz, and the resampler that converted them.
struct NarrowbandVoice: ~Copyable {
  /// The newest samples, the last one at the end.
  private(set) var played = SampleBuffer(repeating: 0, count: PitchContinuation.historyCount)
  private var resampler: FixedRateResampler

  init() throws(SpeechDSPError) {
    resampler = try FixedRateResampler(
      from: SampleRate(hertz: G711.sampleRateHertz),
      to: .voice,
      quality: .telephone
    )
    var scratch = SampleBuffer(repeating: 0, count: 960)
    resampler.resume(after: played, using: &scratch)
  }

  /// Appends the first `count` of `samples` and returns the number of frames at 48 kHz written for
  /// them.
  @_noAllocation @_noLocks
  mutating func say(
    _ samples: borrowing SampleBuffer,
    count: Int,
    into output: inout SampleBuffer
  ) -> FrameCount {
    guard count > 0 else { return 0 }
    let kept = max(0, played.count - count)
    played.move(from: played.count - kept, to: 0, count: kept)
    played.copy(
      from: samples,
      at: count - (played.count - kept),
      to: kept,
      count: played.count - kept
    )
    return resampler.convert(samples, count: count, into: &output, at: 0).produced
  }

  /// Copies the state of `other`.
  @_noAllocation @_noLocks
  mutating func takeOver(_ other: borrowing NarrowbandVoice, using scratch: inout SampleBuffer) {
    played.copy(from: other.played, count: played.count)
    resampler.resume(after: played, using: &scratch)
  }
}
