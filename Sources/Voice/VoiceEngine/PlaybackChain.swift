import MediaCore
import SpeechDSP

/// From frames at 48 kHz to the loudspeaker's rate.
struct PlaybackChain: ~Copyable {
  /// Frames at the loudspeaker's rate that came out of the last `process`.
  private(set) var outputFrames = 0
  /// The converted frames.
  private(set) var output = SampleBuffer(repeating: 0, count: 32_768)

  /// Delay of the rate conversion.
  var delayNanoseconds: Int64 {
    @_noAllocation @_noLocks get {
      switch resampler {
      case .some(let resampler): return resampler.lookAheadNanoseconds
      case .none: return 0
      }
    }
  }

  private var rate: SampleRate
  private var resampler: FixedRateResampler?

  init(rate: SampleRate) throws {
    let resampler = try Self.resampler(to: rate)
    self.rate = rate
    self.resampler = consume resampler
  }

  /// What converts to `rate`, nil if nothing has to.
  static func resampler(to rate: SampleRate) throws -> FixedRateResampler? {
    rate == .voice ? nil : try FixedRateResampler(from: .voice, to: rate)
  }

  /// Goes on with another loudspeaker, at `rate`, and exchanges what converts to it.
  @_noAllocation @_noLocks
  mutating func changeDevice(rate: SampleRate, _ resampler: inout FixedRateResampler?) {
    self.rate = rate
    swap(&self.resampler, &resampler)
  }

  /// How many frames at 48 kHz make `frames` at the loudspeaker's rate, one at least.
  @_noAllocation @_noLocks
  func inputFrames(for frames: FrameCount) -> FrameCount {
    max(1, frames * SampleRate.voice.hertz / rate.hertz)
  }

  /// Converts `count` frames; the result is in `output`.
  @_noAllocation @_noLocks
  mutating func process(_ samples: borrowing SampleBuffer, count: FrameCount) {
    if let conversion = resampler?.convert(samples, count: count, into: &output, at: 0) {
      outputFrames = conversion.produced
      return
    }
    for index in 0..<count { output[index] = max(-1, min(1, samples[index])) }
    outputFrames = count
  }
}
