public import Foundation
import Synchronization
import VoiceEngine

extension AVAudioSession {
  // MARK: Wishes, and what was granted

  /// The wish of `setPreferredSampleRate`, 0 if there is none.
  public var preferredSampleRate: Double { state.withLock { $0.preferredSampleRate } }
  /// The wish of `setPreferredIOBufferDuration` in seconds, 0 if there is none.
  public var preferredIOBufferDuration: TimeInterval {
    state.withLock { $0.preferredIOBufferDuration }
  }
  /// The microphone's rate in hertz: the one in use, or the last one, at first 48000.
  public var sampleRate: Double { state.withLock { $0.grantedSampleRate } }
  /// The device's period in seconds: the one in use, or the last one.
  public var ioBufferDuration: TimeInterval { state.withLock { $0.grantedBufferDuration } }

  /// Wishes for a rate in hertz; the next activation asks the card for it, and `sampleRate` tells what
  /// it granted.
  ///
  /// The codec works at 48 kHz whatever the card does. Throws `badParam` for what is not positive.
  public func setPreferredSampleRate(_ sampleRate: Double) throws {
    guard sampleRate >= 1, sampleRate <= 1_000_000 else {
      throw ErrorCode.badParam.error(reason: "a sample rate is a positive number of hertz")
    }
    state.withLock { $0.preferredSampleRate = sampleRate }
  }

  /// Wishes for a device period in seconds; the next activation asks the card for it, and
  /// `ioBufferDuration` tells what it granted.
  ///
  /// Throws `badParam` for what is not positive or above 1 s.
  public func setPreferredIOBufferDuration(_ duration: TimeInterval) throws {
    guard duration > 0, duration <= 1 else {
      throw ErrorCode.badParam.error(reason: "a buffer duration is between 0 and 1 s")
    }
    state.withLock { $0.preferredIOBufferDuration = duration }
  }

  /// Wishes for a number of input channels; the voice path is mono, so it only reads back.
  public func setPreferredInputNumberOfChannels(_ count: Int) throws {
    try setPreferredChannels(count, \.preferredInputChannels)
  }

  /// Wishes for a number of output channels; the voice path is mono, so it only reads back.
  public func setPreferredOutputNumberOfChannels(_ count: Int) throws {
    try setPreferredChannels(count, \.preferredOutputChannels)
  }

  private func setPreferredChannels(
    _ count: Int,
    _ wish: WritableKeyPath<SessionState, Int>
  ) throws {
    guard count > 0 else {
      throw ErrorCode.badParam.error(reason: "a number of channels is positive")
    }
    state.withLock { $0[keyPath: wish] = count }
  }

  /// The wish of `setPreferredInputNumberOfChannels`, 0 if there is none.
  public var preferredInputNumberOfChannels: Int { state.withLock { $0.preferredInputChannels } }
  /// The wish of `setPreferredOutputNumberOfChannels`, 0 if there is none.
  public var preferredOutputNumberOfChannels: Int { state.withLock { $0.preferredOutputChannels } }
  /// How many channels the voice path takes from the microphone: 1, or 0 without one.
  public var inputNumberOfChannels: Int { currentRoute.inputs.isEmpty ? 0 : 1 }
  /// How many channels the voice path gives to the loudspeaker: 1, or 0 without one.
  public var outputNumberOfChannels: Int { currentRoute.outputs.isEmpty ? 0 : 1 }

  // MARK: Levels and delays

  /// Seconds from the microphone to the voice path: the period in use.
  public var inputLatency: TimeInterval { ioBufferDuration }

  /// Seconds from the voice path to the loudspeaker: how full its buffer is kept, measured while the
  /// session is active.
  public var outputLatency: TimeInterval {
    let fill = voiceEngine?.statistics()?.playbackFillNanoseconds
    return fill.map { Double($0) / 1e9 } ?? ioBufferDuration
  }

  /// The session's own attenuation: none, hence 1.
  ///
  /// The card's mixer is the user's.
  public var outputVolume: Float { 1 }
  /// The session's own gain: none, hence 1.
  ///
  /// The card's mixer is the user's.
  public var inputGain: Float { 1 }
  /// False: the gain is the card's mixer's.
  public var isInputGainSettable: Bool { false }
  /// Throws `badParam`: the gain is the card's mixer's.
  public func setInputGain(_ gain: Float) throws {
    throw ErrorCode.badParam.error(reason: "the gain is the card's mixer's")
  }

  // MARK: Others

  /// Whether another program plays.
  ///
  /// Differs from Apple's: other programs are not seen, so it is always false.
  public var isOtherAudioPlaying: Bool { false }
  /// Whether secondary sound should be silent; as `isOtherAudioPlaying`, always false.
  public var secondaryAudioShouldBeSilencedHint: Bool { false }

  /// The wish of `setAllowHapticsAndSystemSoundsDuringRecording`.
  public var allowHapticsAndSystemSoundsDuringRecording: Bool {
    state.withLock { $0.allowsHapticsDuringRecording }
  }

  /// Whether the desktop may make noises while recording; it reads back, the desktop does not know.
  public func setAllowHapticsAndSystemSoundsDuringRecording(_ isAllowed: Bool) throws {
    state.withLock { $0.allowsHapticsDuringRecording = isAllowed }
  }

  /// The wish of `setPrefersNoInterruptionsFromSystemAlerts`.
  public var prefersNoInterruptionsFromSystemAlerts: Bool {
    state.withLock { $0.prefersNoInterruptionsFromSystemAlerts }
  }

  /// Whether alerts should wait; it reads back, the desktop does not know.
  public func setPrefersNoInterruptionsFromSystemAlerts(_ isPreferred: Bool) throws {
    state.withLock { $0.prefersNoInterruptionsFromSystemAlerts = isPreferred }
  }

  // MARK: Recording

  /// Whether the user lets the app record; outside a sandbox always granted.
  public var recordPermission: RecordPermission { .granted }

  /// Asks for permission to record; answers on an arbitrary thread.
  public func requestRecordPermission(_ response: @escaping (Bool) -> Void) {
    let crossing = Answer(give: response)
    DispatchQueue.global().async { crossing.give(true) }
  }

  // SAFETY: handed to one thread, called there once; Apple's parameter is not Sendable.
  private struct Answer: @unchecked Sendable {
    let give: (Bool) -> Void
  }

  /// Sends silence instead of the microphone on every call, or the microphone again.
  func setInputMuted(_ isMuted: Bool) {
    let engine = state.withLock { state in
      state.isInputMuted = isMuted
      return state.activation.running?.engine
    }
    engine?.setInputMuted(isMuted ? .muted : .unmuted)
  }

  var isInputMuted: Bool { state.withLock { $0.isInputMuted } }
}
