import MediaCore
import SpeechDSP

/// Conversion from 48 kHz to the loudspeaker's rate.
struct PlaybackChain: ~Copyable {
  /// Frames at the loudspeaker's rate that the last `process` produced.
  private(set) var outputFrames = 0
  /// Frames that the last `process` produced.
  private(set) var output = SampleBuffer(repeating: 0, count: 32_768)

  /// Delay of the rate conversion, in nanoseconds.
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

  /// Returns a resampler from 48 kHz to `rate`, nil if none is needed.
  static func resampler(to rate: SampleRate) throws -> FixedRateResampler? {
    rate == .voice ? nil : try FixedRateResampler(from: .voice, to: rate)
  }

  /// Continues with another loudspeaker, at `rate`, and exchanges the resampler for `resampler`.
  @_noAllocation @_noLocks
  mutating func changeDevice(rate: SampleRate, _ resampler: inout FixedRateResampler?) {
    self.rate = rate
    swap(&self.resampler, &resampler)
  }

  /// Returns the number of frames at 48 kHz that make `frames` at the loudspeaker's rate, at least
  /// one.
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
