import CSpeexDSP
package import MediaCore

/// Converts mono audio between two fixed rates.
///
/// It uses SpeexDSP's windowed-sinc converter.
///
/// **Thread safety:** one thread at a time.
@safe
package struct FixedRateResampler: ~Copyable {
  /// Sample rate of the input.
  package let inputRate: SampleRate
  /// Sample rate of the output.
  package let outputRate: SampleRate
  /// Delay of the filter, in nanoseconds.
  package let lookAheadNanoseconds: Int64

  /// Length of the filter, which sets its delay and its cost.
  package enum Quality: CInt, Sendable {
    /// 80 taps of the lower rate: 0.83 ms of delay at 48 kHz, 5 ms at 8 kHz.
    case music = 5
    /// 48 taps of the lower rate: 3 ms at 8 kHz, and the telephone band up to 3.4 kHz.
    case telephone = 3
  }

  private let state: OpaquePointer

  /// Creates a converter from one rate to the other, filled with silence; throws if libspeexdsp has
  /// no memory.
  package init(
    from inputRate: SampleRate,
    to outputRate: SampleRate,
    quality: Quality = .music
  ) throws(SpeechDSPError) {
    var code: CInt = 0
    let created = unsafe speex_resampler_init(
      1,
      UInt32(inputRate.hertz),
      UInt32(outputRate.hertz),
      quality.rawValue,
      &code
    )
    guard let created = unsafe created, code == 0 else {
      throw SpeechDSPError(operation: "speex_resampler_init")
    }
    unsafe state = created
    // Drops the filter's leading zeros, so that the delay is only the look-ahead.
    unsafe speex_resampler_skip_zeros(created)
    self.inputRate = inputRate
    self.outputRate = outputRate
    lookAheadNanoseconds = unsafe inputRate.nanoseconds(
      of: Int(speex_resampler_get_input_latency(created))
    )
  }

  deinit {
    unsafe speex_resampler_destroy(state)
  }

  /// Numbers of frames that one call of `convert` read and wrote.
  @frozen
  package struct Conversion: Equatable, Sendable, BitwiseCopyable {
    /// Input frames read.
    package var consumed: FrameCount
    /// Output frames written.
    package var produced: FrameCount

    @_noAllocation @_noLocks
    init(consumed: FrameCount, produced: FrameCount) {
      self.consumed = consumed
      self.produced = produced
    }
  }

  /// Converts `count` frames of `input` from `start` on, as far as the result fits into `output`
  /// from `offset` on.
  @_noAllocation @_noLocks
  package mutating func convert(
    _ input: borrowing SampleBuffer,
    from start: Int = 0,
    count: FrameCount,
    into output: inout SampleBuffer,
    at offset: Int
  ) -> Conversion {
    precondition(
      start >= 0 && start + count <= input.count && offset <= output.count,
      "buffer too small"
    )
    var consumed = UInt32(truncatingIfNeeded: count)
    var produced = UInt32(truncatingIfNeeded: output.count - offset)
    _ = unsafe speexdsp_resample(
      state,
      input.address + start,
      &consumed,
      output.address + offset,
      &produced
    )
    return Conversion(consumed: Int(consumed), produced: Int(produced))
  }

  /// Resets the filter and continues as if `history` had been the input so far.
  ///
  /// Only its last 80 samples are used, the length of the filter if the output has the higher rate.
  /// Output for `history` is discarded; `scratch` must have room for some of it. Later output lasts
  /// as long as its input, delayed by half the filter.
  @_noAllocation @_noLocks
  package mutating func resume(
    after history: borrowing SampleBuffer,
    using scratch: inout SampleBuffer
  ) {
    unsafe speexdsp_resample_reset(state)
    var place = max(0, history.count - 80)
    while place < history.count {
      let conversion = convert(
        history,
        from: place,
        count: history.count - place,
        into: &scratch,
        at: 0
      )
      guard conversion.consumed > 0 else { return }
      place += conversion.consumed
    }
  }
}

// SAFETY: SpeexDSP keeps all state behind the pointer, which has this one owner.
extension FixedRateResampler: @unchecked Sendable {}
