import MediaCore
import SpeechDSP

/// Conversion of the microphone's samples to clean ones at 48 kHz: rate conversion, then the
/// filters.
struct CaptureChain: ~Copyable {
  /// Frames at 48 kHz that the last `process` produced.
  private(set) var outputFrames = 0
  /// Frames that the last `process` produced, clean at 48 kHz.
  private(set) var output = SampleBuffer(repeating: 0, count: 32_768)
  /// Frames at 48 kHz captured so far.
  private(set) var captured: Int64 = 0
  /// Captured frames that have left the filters.
  var delivered: Int64 { captured - Int64(blockFill) }

  /// Delay of rate conversion and filters in nanoseconds, without the wait for a whole block.
  var delayNanoseconds: Int64 {
    @_noAllocation @_noLocks get {
      let filtering = filter == nil ? 0 : SampleRate.voice.nanoseconds(of: Self.blockFrames)
      switch resampler {
      case .some(let resampler): return filtering + resampler.lookAheadNanoseconds
      case .none: return filtering
      }
    }
  }

  private var rate: SampleRate
  private var resampler: FixedRateResampler?
  private var filter: SpeechFilter?
  /// Frames of a filter's block, 5 ms: the preprocessor delays by one block, and 2.5 ms is too
  /// coarse in frequency.
  private static var blockFrames: FrameCount { @_noAllocation @_noLocks get { 240 } }
  private var block: SampleBuffer
  private var far: SampleBuffer
  private var blockFill = 0
  private var converted = SampleBuffer(repeating: 0, count: 32_768)

  /// True if the filters need the sound that the loudspeaker played.
  private(set) var needsReference: Bool

  /// Creates a chain for a microphone at `rate`.
  init(rate: SampleRate, filters: SpeechFilterSettings) throws {
    needsReference = filters.echoCancellation
    let resampler = try Self.resampler(from: rate)
    let filter = try Self.filter(filters)
    self.rate = rate
    block = SampleBuffer(repeating: 0, count: Self.blockFrames)
    far = SampleBuffer(repeating: 0, count: Self.blockFrames)
    self.resampler = consume resampler
    self.filter = consume filter
  }

  /// Returns a resampler from `rate` to 48 kHz, nil if none is needed.
  static func resampler(from rate: SampleRate) throws -> FixedRateResampler? {
    rate == .voice ? nil : try FixedRateResampler(from: rate, to: .voice)
  }

  /// Returns the filters of those settings, nil if none is needed.
  static func filter(_ settings: SpeechFilterSettings) throws -> SpeechFilter? {
    settings.isEmpty ? nil : try SpeechFilter(settings, blockFrames: blockFrames)
  }

  /// Exchanges the filters for those in `filter`, which receives the old ones; samples that wait
  /// for a whole block are kept.
  @_noAllocation @_noLocks
  mutating func exchange(_ filter: inout SpeechFilter?, needsReference: Bool) {
    self.needsReference = needsReference
    swap(&self.filter, &filter)
  }

  /// Continues with another microphone, at `rate`, and exchanges the resampler for `resampler`.
  @_noAllocation @_noLocks
  mutating func changeDevice(rate: SampleRate, _ resampler: inout FixedRateResampler?) {
    self.rate = rate
    swap(&self.resampler, &resampler)
    resetEchoPath()
  }

  /// Processes `count` frames at the microphone's rate; the result is in `output`.
  @_noAllocation @_noLocks
  mutating func process(
    _ samples: borrowing SampleBuffer,
    count: FrameCount,
    reference: borrowing EchoReference
  ) {
    guard filter != nil else {
      passUnfiltered(samples, count: count)
      return
    }
    outputFrames = 0
    let frames = Self.convert(samples, count: count, by: &resampler, into: &converted)
    var taken = 0
    while taken < frames {
      let part = min(frames - taken, Self.blockFrames - blockFill)
      block.copy(from: converted, at: taken, to: blockFill, count: part)
      taken += part
      blockFill += part
      captured += Int64(part)
      if blockFill == Self.blockFrames { processBlock(reference: reference) }
    }
  }

  @_noAllocation @_noLocks
  private mutating func passUnfiltered(_ samples: borrowing SampleBuffer, count: FrameCount) {
    guard blockFill > 0 else {
      outputFrames = Self.convert(samples, count: count, by: &resampler, into: &output)
      captured += Int64(outputFrames)
      return
    }
    // They waited for filters that are gone.
    output.copy(from: block, count: blockFill)
    let frames = Self.convert(samples, count: count, by: &resampler, into: &converted)
    output.copy(from: converted, at: 0, to: blockFill, count: frames)
    outputFrames = blockFill + frames
    captured += Int64(frames)
    blockFill = 0
  }

  // Brings `count` frames to 48 kHz, and returns how many they are then.
  @_noAllocation @_noLocks
  private static func convert(
    _ samples: borrowing SampleBuffer,
    count: FrameCount,
    by resampler: inout FixedRateResampler?,
    into target: inout SampleBuffer
  ) -> FrameCount {
    // All is used up: what one read delivers fits, at 6 kHz and above.
    if let conversion = resampler?.convert(samples, count: count, into: &target, at: 0) {
      return conversion.produced
    }
    target.copy(from: samples, count: count)
    return count
  }

  @_noAllocation @_noLocks
  private mutating func processBlock(reference: borrowing EchoReference) {
    reference.copy(
      from: captured - Int64(Self.blockFrames),
      count: Self.blockFrames,
      into: &far
    )
    filter?.process(&block, far: far)
    output.copy(from: block, to: outputFrames, count: Self.blockFrames)
    outputFrames += Self.blockFrames
    blockFill = 0
  }

  /// Advances over `frames` at the microphone's rate that were lost in a fault, and returns their
  /// number at 48 kHz.
  @_noAllocation @_noLocks
  mutating func skip(_ frames: FrameCount) -> FrameCount {
    let lost = SampleRate.voice.frames(inNanoseconds: rate.nanoseconds(of: frames))
    captured += Int64(lost)
    return lost
  }

  @_noAllocation @_noLocks
  mutating func resetEchoPath() {
    filter?.resetEchoPath()
  }
}
