import MediaCore
import Playout

/// Filler of gaps: the decoder's concealment at first, then the background noise of the far side.
///
/// Versions of libopus differ in their concealment after a while: 1.5.2 has a burst of noise after
/// 200 ms and silence in pauses (DTX), 1.6.1 the burst after 100 ms.
struct GapFiller: ~Copyable {
  /// Length in frames of the decoder's concealment `alone`, and of its `fading` into the
  /// background.
  struct ConcealmentFrames {
    var alone: FrameCount
    var fading: FrameCount
  }

  /// Length of the fade into the background in a pause, 5 ms at 48 kHz.
  private static var pauseFade: FrameCount { @_noAllocation @_noLocks get { 240 } }
  /// Length of a span, 5 ms at 48 kHz, of which forty are remembered.
  private static var spanFrames: FrameCount { @_noAllocation @_noLocks get { 240 } }
  private static var spanCount: Int { @_noAllocation @_noLocks get { 40 } }

  private let isOn: Bool
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

  /// Creates a filler before anything is decoded.
  init(_ concealment: ConcealmentFrames, _ mechanisms: PlayoutMechanisms) {
    self.concealment = concealment
    isOn = mechanisms.comfortNoise
  }

  /// Forgets the background noise, as another source has taken over.
  @_noAllocation @_noLocks
  mutating func restart() { background.restart() }

  /// Notes that the first `count` frames of `sound` were decoded, after a gap or right after those
  /// before.
  @_noAllocation @_noLocks
  mutating func noteDecoded(_ sound: borrowing SampleBuffer, count: FrameCount, afterGap: Bool) {
    (filledFrames, share, gain) = (0, 0, 1)
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

  /// Notes that the last `frames` were not played.
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
    let loudest = (power: powers.peak(count: powers.count), peak: peaks.peak(count: peaks.count))
    var start = 0
    while start < count {
      let frames = min(Self.spanFrames, count - start)
      let power = Self.measure(sound, in: start..<start + frames).energy / Float(frames)
      let bearable = power > loudest.power ? (loudest.power / power).root : 1
      gain = min(gain, bearable)
      let step = (bearable - gain) / Float(frames)
      for index in start..<start + frames {
        gain += step
        sound[index] = max(-loudest.peak, min(loudest.peak, sound[index] * gain))
      }
      start += frames
    }
  }
}
