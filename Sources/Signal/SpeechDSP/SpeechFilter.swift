import CSpeexDSP
package import MediaCore

/// Filters between the microphone and the encoder.
public struct SpeechFilterSettings: Equatable, Sendable {
  /// Removes the loudspeaker's echo from the microphone's signal, and suppresses the residual echo.
  ///
  /// Any filter adds one block of delay; further ones add none.
  public var echoCancellation: Bool
  /// Lowers steady noise by 15 dB.
  public var noiseSuppression: Bool
  /// Brings speech to an even level, and leaves noise alone in pauses.
  public var gainControl: Bool

  /// Settings with the given filters.
  public init(
    echoCancellation: Bool = false,
    noiseSuppression: Bool = false,
    gainControl: Bool = false
  ) {
    self.echoCancellation = echoCancellation
    self.noiseSuppression = noiseSuppression
    self.gainControl = gainControl
  }

  /// True if no filter is on.
  public var isEmpty: Bool { self == SpeechFilterSettings() }
}

/// SpeexDSP's echo canceller, noise suppressor and gain control over blocks of mono at 48 kHz.
///
/// **Thread safety:** one thread at a time.
@safe
package struct SpeechFilter: ~Copyable {
  /// Length of the modelled echo path, 50 ms at 48 kHz, which covers the coupling of a headset.
  private static var echoTailFrames: Int { 2_400 }

  /// Frames of one block.
  package let blockFrames: FrameCount

  private let echo: OpaquePointer?
  private let preprocessor: OpaquePointer?
  private let controlsGain: Bool
  private var gate = SpeechGate()
  /// Frames until SpeexDSP has learned the noise: a second at first.
  private var unlearnedFrames = 48_000
  private var microphone: FixedArray<Int16>
  private var reference: FixedArray<Int16>
  private var output: FixedArray<Int16>

  /// Filters for blocks of `blockFrames`, 120 to 960.
  package init(_ settings: SpeechFilterSettings, blockFrames: FrameCount) throws(SpeechDSPError) {
    self.blockFrames = blockFrames
    microphone = FixedArray(repeating: 0, count: blockFrames)
    reference = FixedArray(repeating: 0, count: blockFrames)
    output = FixedArray(repeating: 0, count: blockFrames)

    var echo: OpaquePointer?
    var preprocessor: OpaquePointer?
    var rate: CInt = 48_000
    if settings.echoCancellation {
      unsafe echo = speex_echo_state_init(CInt(blockFrames), CInt(Self.echoTailFrames))
      _ = unsafe speex_echo_ctl(echo, SPEEX_ECHO_SET_SAMPLING_RATE, &rate)
    }
    if !settings.isEmpty {
      unsafe preprocessor = speex_preprocess_state_init(CInt(blockFrames), rate)
      // Residual echo is suppressed only while the denoiser is on, be it by 0 dB.
      var denoise: CInt = settings.noiseSuppression || settings.echoCancellation ? 1 : 0
      var gain: CInt = settings.gainControl ? 1 : 0
      _ = unsafe speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_DENOISE, &denoise)
      _ = unsafe speex_preprocess_ctl(preprocessor, SPEEX_PREPROCESS_SET_AGC, &gain)
      if !settings.noiseSuppression {
        var decibels: CInt = 0
        _ = unsafe speex_preprocess_ctl(
          preprocessor,
          SPEEX_PREPROCESS_SET_NOISE_SUPPRESS,
          &decibels
        )
      }
      if unsafe echo != nil {
        _ = unsafe speex_preprocess_ctl(
          preprocessor,
          SPEEX_PREPROCESS_SET_ECHO_STATE,
          UnsafeMutableRawPointer(echo)
        )
      }
    }
    controlsGain = settings.gainControl
    unsafe self.echo = echo
    unsafe self.preprocessor = preprocessor
    let lacksEcho = unsafe settings.echoCancellation && echo == nil
    let lacksPreprocessor = unsafe !settings.isEmpty && preprocessor == nil
    guard !lacksEcho else { throw SpeechDSPError(operation: "speex_echo_state_init") }
    guard !lacksPreprocessor else { throw SpeechDSPError(operation: "speex_preprocess_state_init") }
  }

  deinit {
    if let preprocessor = unsafe preprocessor {
      unsafe speex_preprocess_state_destroy(preprocessor)
    }
    if let echo = unsafe echo { unsafe speex_echo_state_destroy(echo) }
  }

  /// Filters one block in place.
  ///
  /// - Parameters:
  ///   - block: `blockFrames` samples from the microphone.
  ///   - far: the `blockFrames` samples that the loudspeaker played in the same span.
  @_noAllocation @_noLocks
  package mutating func process(_ block: inout SampleBuffer, far: borrowing SampleBuffer) {
    for index in 0..<blockFrames {
      microphone[index] = Self.quantise(block[index])
      reference[index] = Self.quantise(far[index])
    }
    run()
    for index in 0..<blockFrames { block[index] = Float(output[index]) / 32_768 }
  }

  /// Makes the echo canceller learn its path anew, after the delay between the two sides changed.
  @_noAllocation @_noLocks
  package mutating func resetEchoPath() {
    if let echo = unsafe echo { unsafe speexdsp_cancel_reset(echo) }
  }

  @_noAllocation @_noLocks
  private mutating func run() {
    let input = unsafe microphone.address
    let far = unsafe reference.address
    let result = unsafe output.address
    if let echo = unsafe echo {
      unsafe speexdsp_cancel(echo, input, far, result)
    } else {
      for index in 0..<blockFrames { unsafe result[index] = input[index] }
    }
    guard let preprocessor = unsafe preprocessor else { return }
    _ = unsafe speexdsp_preprocess(preprocessor, result)
    guard controlsGain else { return }
    // SpeexDSP takes steady noise for speech half of the time, pink noise nearly always, and all of
    // the first second, while it learns what noise is; its gain would rise to 27 dB.
    unlearnedFrames = max(0, unlearnedFrames - blockFrames)
    let percent = unsafe speexdsp_speech_percent(preprocessor)
    var power: Float = 0
    for index in 0..<blockFrames { power += Float(microphone[index]) * Float(microphone[index]) }
    let isLoud = gate.isSpeech(power / Float(blockFrames), frames: blockFrames)
    let isSpeech = unlearnedFrames == 0 && isLoud && percent >= Self.speechPercent
    unsafe speexdsp_set_gain_rise(preprocessor, isSpeech ? Self.gainRise : 0)
  }

  /// Likelihood from which a block counts as speech for gain control.
  ///
  /// Speech has 90 to 99 %, steady noise 35 to 70 % (SpeexDSP 1.2.1).
  private static var speechPercent: CInt { @_noAllocation @_noLocks get { 80 } }
  /// Fastest rise of the gain in decibels per second, as SpeexDSP has it by default.
  private static var gainRise: CInt { @_noAllocation @_noLocks get { 12 } }

  @_noAllocation @_noLocks
  private static func quantise(_ sample: Float) -> Int16 {
    guard sample.isFinite else { return 0 }
    return Int16(max(-32_768, min(32_767, sample * 32_768)))
  }
}

// SAFETY: SpeexDSP keeps all state behind the pointers, which have this one owner.
extension SpeechFilter: @unchecked Sendable {}
