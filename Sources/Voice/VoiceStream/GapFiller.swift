import MediaCore
import Playout

/// Filler of gaps: the decoder's concealment at first, then the background noise of the far side.
///
/// Versions of libopus differ in their concealment after a while: 1.5.2 has a burst of noise after
/// 200 ms and silence in pauses (DTX), 1.6.1 the burst after 100 ms.
///
/// Sound that is decoded after a gap is limited as well. Opus codes energies as differences from
/// the frame before (RFC 6716 section 4.3.2.1), and libopus before 1.5 makes some tens of
/// milliseconds too loud after a lost one.
struct GapFiller: ~Copyable {
  /// Lengths in frames of the decoder's concealment `alone`, of its `fading` into the background,
  /// and of the `settling` after a gap, in which decoded sound may be too loud.
  struct ConcealmentFrames {
    var alone: FrameCount
    var fading: FrameCount
    var settling: FrameCount
  }

  /// Length of the fade into the background in a pause, 5 ms at 48 kHz.
  private static var pauseFade: FrameCount { @_noAllocation @_noLocks get { 240 } }
  /// Length of a span, 5 ms at 48 kHz, of which forty are remembered.
  private static var spanFrames: FrameCount { @_noAllocation @_noLocks get { 240 } }
  private static var spanCount: Int { @_noAllocation @_noLocks get { 40 } }
  /// Factor by which the far side's loudest power fades in a span, 1 dB in a second: people speak
  /// up and calm down.
  private static var fadePerSpan: Float { @_noAllocation @_noLocks get { 0.998_85 } }
  /// Growth per frame of a limit that sound after a gap has reached, 5 dB in a second, so that a
  /// louder voice comes through even where one gap follows another.
  private static var growth: Float { @_noAllocation @_noLocks get { 0.000_024 } }
  /// Growth per frame of that limit once the decoder has settled, about 190 dB in a second.
  private static var release: Float { @_noAllocation @_noLocks get { 0.001 } }
  /// Power of -20 dBFS, below which nothing is limited after a gap, since the gap may hide
  /// the beginning of a word.
  private static var quietPower: Float { @_noAllocation @_noLocks get { 0.01 } }

  private let isOn: Bool
  private let limitsDecoding: Bool
  private let concealment: ConcealmentFrames

  private var background = BackgroundNoise()
  private var noise = SampleBuffer(repeating: 0, count: 5_760)
  private var filledFrames: FrameCount = 0
  /// Progress of the fade into the background, from 0 to 1.
  private var share: Float = 0

  /// Powers and peaks of the last 200 ms that were decoded, by span.
  private var powers = FixedArray<Float>(repeating: 0, count: 40)
  private var peaks = FixedArray<Float>(repeating: 0, count: 40)
  private var span = 0
  private var framesInSpan: FrameCount = 0
  /// Gain of the limiter at the last frame.
  private var gain: Float = 1
  /// The power that the far side reaches when it is loud; 0 before the first span.
  private var loudPower: Float = 0
  /// Number of frames that the decoder still needs to settle after a gap.
  private var settling: FrameCount = 0
  /// True from a gap on until the decoder has settled and the limiter has let go.
  private var isSettling = false

  /// Creates a filler before anything is decoded.
  init(_ concealment: ConcealmentFrames, _ mechanisms: PlayoutMechanisms) {
    self.concealment = concealment
    isOn = mechanisms.comfortNoise
    limitsDecoding = mechanisms.loudness
  }

  /// Forgets the background noise and the loudness, as another source has taken over.
  @_noAllocation @_noLocks
  mutating func restart() {
    background.restart()
    (loudPower, isSettling, gain) = (0, false, 1)
  }

  /// Notes that the first `count` frames of `sound` were decoded, after a gap or right after those
  /// before, and limits them while the decoder settles after a gap.
  @_noAllocation @_noLocks
  mutating func noteDecoded(_ sound: inout SampleBuffer, count: FrameCount, afterGap: Bool) {
    if afterGap || filledFrames > 0 || !isSettling { gain = 1 }
    (filledFrames, share) = (0, 0)
    if afterGap, limitsDecoding, concealment.settling > 0 {
      (settling, isSettling) = (concealment.settling, loudPower > 0)
    }
    if isSettling { settle(&sound, count: count) }
    // What leans on concealment teaches nothing about the far side.
    if afterGap { background.noteGap() } else { background.learn(sound, count: count) }
    var taken = 0
    while taken < count {
      let frames = min(count - taken, Self.spanFrames - framesInSpan)
      let measured = Self.measure(sound, in: taken..<taken + frames)
      powers[span] += measured.energy / Float(Self.spanFrames)
      peaks[span] = max(peaks[span], measured.peak)
      taken += frames
      framesInSpan += frames
      if framesInSpan == Self.spanFrames {
        framesInSpan = 0
        loudPower *= Self.fadePerSpan
        if !isSettling { loudPower = max(loudPower, powers[span]) }
        span = (span + 1) % Self.spanCount
        (powers[span], peaks[span]) = (0, 0)
      }
    }
  }

  // Eight at a time; what is left over is less than that.
  @_noAllocation @_noLocks
  private static func measure(
    _ sound: borrowing SampleBuffer,
    in range: Range<Int>
  ) -> (energy: Float, peak: Float) {
    precondition(range.lowerBound >= 0 && range.upperBound <= sound.count, "range out of bounds")
    let samples = unsafe sound.address
    var (squares, peaks) = (SIMD8<Float>(repeating: 0), SIMD8<Float>(repeating: 0))
    var index = range.lowerBound
    while index + 8 <= range.upperBound {
      var eight = SIMD8<Float>()
      for lane in 0..<8 { unsafe eight[lane] = samples[index &+ lane] }
      squares += eight * eight
      peaks = pointwiseMax(peaks, pointwiseMax(eight, -eight))
      index &+= 8
    }
    var (energy, peak) = (squares.sum(), peaks.max())
    while index < range.upperBound {
      let sample = unsafe samples[index]
      energy += sample * sample
      peak = max(peak, abs(sample))
      index &+= 1
    }
    return (energy, peak)
  }

  /// Notes that the last `frames` of concealment were not played.
  @_noAllocation @_noLocks
  mutating func takeBack(_ frames: FrameCount) {
    filledFrames = max(0, filledFrames - frames)
    share = max(0, share - Float(frames) / Float(concealment.fading))
  }

  /// Replaces the first `count` frames of `sound`, concealed by the decoder, with the sound to
  /// play.
  ///
  /// In a pause the far side is silent; otherwise packets are missing.
  @_noAllocation @_noLocks
  mutating func fill(_ sound: inout SampleBuffer, count: FrameCount, isPause: Bool) {
    guard isOn else { return }
    let rise = 1 / Float(isPause ? Self.pauseFade : concealment.fading)
    let begin = isPause ? 0 : max(0, min(count, concealment.alone - filledFrames))
    if begin < count || share > 0 { background.make(into: &noise, count: count) }
    filledFrames += count
    for index in 0..<count {
      if index >= begin { share = min(1, share + rise) }
      guard share > 0 else { continue }
      // The sum of the squares stays within 0.5 dB of 1.
      let gains = (concealment: 1 - share * share, noise: share * (2 - share))
      sound[index] = sound[index] * gains.concealment + noise[index] * gains.noise
    }
    limit(&sound, count: count)
  }

  // Makes nothing louder than what was heard before.
  @_noAllocation @_noLocks
  private mutating func limit(_ sound: inout SampleBuffer, count: FrameCount) {
    let power = powers.peak(count: powers.count)
    let peak = peaks.peak(count: peaks.count)
    var start = 0
    while start < count {
      let end = min(count, start + Self.spanFrames)
      limit(&sound, in: start..<end, to: power)
      for index in start..<end { sound[index] = max(-peak, min(peak, sound[index])) }
      start = end
    }
  }

  // Makes what follows a gap no louder than the far side is when it is loud.
  @_noAllocation @_noLocks
  private mutating func settle(_ sound: inout SampleBuffer, count: FrameCount) {
    var start = 0
    while start < count {
      let end = min(count, start + Self.spanFrames)
      limit(&sound, in: start..<end, to: max(loudPower, Self.quietPower))
      let rise = settling > 0 ? Self.growth : Self.release
      if gain < 1 {
        loudPower = max(loudPower, Self.quietPower) * (1 + rise * Float(end - start))
      }
      settling = max(0, settling - (end - start))
      start = end
    }
    isSettling = settling > 0 || gain < 1
  }

  @_noAllocation @_noLocks
  private mutating func limit(
    _ sound: inout SampleBuffer,
    in range: Range<Int>,
    to loudest: Float
  ) {
    // A few frames around a pulse of the voice may be louder than a span is.
    let frames = max(range.count, Self.spanFrames / 2)
    let power = Self.measure(sound, in: range).energy / Float(frames)
    let bearable = power > loudest ? (loudest / power).root : 1
    gain = min(gain, bearable)
    let step = (bearable - gain) / Float(range.count)
    for index in range {
      gain += step
      sound[index] *= gain
    }
    // Sums of steps are not exact, and the limiter lets go at 1.
    gain = bearable
  }
}
