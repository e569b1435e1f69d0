public import ALSAIO
public import Foundation
import MediaTime
public import SpeechDSP
import Synchronization
public import VoiceEngine

/// The audio session: what the process does with sound, and whether it may at this moment.
///
/// In a call the system activates it at call priority, exactly when a start or answer action has
/// been fulfilled, and deactivates it when the last audible call has ended. Activation takes the
/// sound devices and starts the real-time voice thread; deactivation releases both.
///
/// **Thread safety:** every member may be used from any thread. Activation blocks for as long as
/// the device takes to open.
///
/// Differs from Apple's: `devices`, `speechFilters` and `voiceEngine` are additions for
/// Linux, where an app chooses its sound devices by name and runs its voice through the engine.
open class AVAudioSession: NSObject, @unchecked Sendable {
  // SAFETY: all state is in a mutex.

  /// The devices that the next activation opens.
  public struct Devices: Equatable, Sendable {
    /// The microphone.
    public var capture: DeviceName
    /// The loudspeaker.
    public var playback: DeviceName

    /// A pair of devices.
    public init(capture: DeviceName, playback: DeviceName) {
      self.capture = capture
      self.playback = playback
    }

    /// The devices that the desktop's user has chosen.
    public static let systemDefault = Devices(capture: .pcm("default"), playback: .pcm("default"))
  }

  private enum Activation: Sendable {
    case inactive
    case byApp(CallEngine)
    case byCall(CallEngine)

    var engine: CallEngine? {
      switch self {
      case .inactive: nil
      case .byApp(let engine), .byCall(let engine): engine
      }
    }
  }

  private struct State: Sendable {
    var category = Category.soloAmbient
    var mode = Mode.default
    var options: CategoryOptions = []
    var preferredSampleRate = 0.0
    var preferredIOBufferDuration = 0.0
    var devices = Devices.systemDefault
    var speechFilters: SpeechFilterSettings?
    var activation = Activation.inactive
    var grantedSampleRate = 48_000.0
    var grantedBufferDuration = 0.0025
  }

  private static let shared = AVAudioSession()
  private let state = Mutex(State())

  /// The period that is asked for when the app has no wish: 2.5 ms, the shortest Opus frame.
  private static let defaultPeriodNanoseconds: Int64 = 2_500_000

  /// The session of this process.
  open class func sharedInstance() -> AVAudioSession {
    shared
  }

  // MARK: Category and mode

  /// What the app does with sound; `soloAmbient` at first.
  open var category: Category { state.withLock { $0.category } }
  /// How it uses the category; `default` at first.
  open var mode: Mode { state.withLock { $0.mode } }
  /// The refinements that were set with the category.
  open var categoryOptions: CategoryOptions { state.withLock { $0.options } }

  /// Sets the category and clears the options.
  open func setCategory(_ category: Category) throws {
    try setCategory(category, mode: .default, options: [])
  }

  /// Sets category and options.
  open func setCategory(_ category: Category, options: CategoryOptions) throws {
    try setCategory(category, mode: .default, options: options)
  }

  /// Sets category, mode and options.
  ///
  /// Throws `badParam`, changing nothing, if they do not fit.
  open func setCategory(
    _ category: Category,
    mode: Mode,
    options: CategoryOptions = []
  ) throws {
    let isTwoWay = category == .playAndRecord
    guard isTwoWay || (mode != .voiceChat && mode != .videoChat),
      isTwoWay || !options.contains(.defaultToSpeaker)
    else {
      throw ErrorCode.badParam.error(
        reason: "voice modes and defaultToSpeaker need the category playAndRecord"
      )
    }
    state.withLock { state in
      state.category = category
      state.mode = mode
      state.options = options
    }
  }

  /// Sets the mode.
  ///
  /// Throws `badParam` if it does not fit the category.
  open func setMode(_ mode: Mode) throws {
    try setCategory(category, mode: mode, options: [])
  }

  // MARK: Preferences

  /// The wish of `setPreferredSampleRate`, 0 if there is none.
  open var preferredSampleRate: Double { state.withLock { $0.preferredSampleRate } }
  /// The wish of `setPreferredIOBufferDuration` in seconds, 0 if there is none.
  open var preferredIOBufferDuration: Double { state.withLock { $0.preferredIOBufferDuration } }
  /// The microphone's rate in use, or 48000 while inactive.
  open var sampleRate: Double { state.withLock { $0.grantedSampleRate } }
  /// The device period in use in seconds, or the last one while inactive.
  open var ioBufferDuration: TimeInterval { state.withLock { $0.grantedBufferDuration } }

  /// Wishes for a rate in hertz.
  ///
  /// Differs from Apple's: a card runs at the rate that it has nearest to 48 kHz, which the codec
  /// needs; the wish is kept and read back only.
  open func setPreferredSampleRate(_ sampleRate: Double) throws {
    guard sampleRate > 0, sampleRate.isFinite else {
      throw ErrorCode.badParam.error(reason: "a sample rate is positive")
    }
    state.withLock { $0.preferredSampleRate = sampleRate }
  }

  /// Wishes for a device period in seconds; the next activation asks the card for it.
  open func setPreferredIOBufferDuration(_ duration: TimeInterval) throws {
    guard duration > 0, duration <= 1 else {
      throw ErrorCode.badParam.error(reason: "a buffer duration is between 0 and 1 s")
    }
    state.withLock { $0.preferredIOBufferDuration = duration }
  }

  // MARK: Additions for Linux

  /// The devices that the next activation opens; both `default` at first.
  public var devices: Devices {
    get { state.withLock { $0.devices } }
    set { state.withLock { $0.devices = newValue } }
  }

  /// The filters that the next activation uses; nil chooses by mode.
  public var speechFilters: SpeechFilterSettings? {
    get { state.withLock { $0.speechFilters } }
    set { state.withLock { $0.speechFilters = newValue } }
  }

  /// The engine that runs while the session is active, nil otherwise.
  public var voiceEngine: CallEngine? { state.withLock { $0.activation.engine } }

  // MARK: Activation

  /// Activates or deactivates the session outside calls.
  ///
  /// During a call the system owns the activation: activating changes nothing, deactivating throws
  /// `isBusy`.
  open func setActive(_ active: Bool, options: SetActiveOptions = []) throws {
    try state.withLock { state in
      switch (state.activation, active) {
      case (.byCall, true), (.byApp, true), (.inactive, false):
        break
      case (.byCall, false):
        throw ErrorCode.isBusy.error(reason: "a call holds the session")
      case (.inactive, true):
        state.activation = .byApp(try Self.open(&state))
      case (.byApp(let engine), false):
        engine.stop()
        state.activation = .inactive
      }
    }
  }

  /// Takes the devices for a call.
  ///
  /// Only the call layer calls this, after a fulfilled action.
  package func activateForCall() throws {
    try state.withLock { state in
      switch state.activation {
      case .byCall:
        break
      case .byApp(let engine):
        state.activation = .byCall(engine)
      case .inactive:
        state.activation = .byCall(try Self.open(&state))
      }
    }
  }

  /// Releases the devices after the last audible call.
  package func deactivateForCall() {
    let engine = state.withLock { state in
      let engine = state.activation.engine
      state.activation = .inactive
      return engine
    }
    engine?.stop()
  }

  private static func open(_ state: inout State) throws -> CallEngine {
    let wish = state.preferredIOBufferDuration
    let headset = try Headset(
      capture: state.devices.capture,
      playback: state.devices.playback,
      periodNanoseconds: wish > 0 ? Int64(wish * 1e9) : defaultPeriodNanoseconds
    )
    state.grantedSampleRate = Double(headset.captureRate.hertz)
    state.grantedBufferDuration =
      Double(headset.playbackPeriod) / Double(headset.playbackRate.hertz)
    let filters = state.speechFilters ?? Self.filters(for: state.mode)
    return try CallEngine(
      device: headset,
      settings: EngineSettings(filters: filters)
    )
  }

  private static func filters(for mode: Mode) -> SpeechFilterSettings {
    SpeechFilterSettings(echoCancellation: mode == .voiceChat || mode == .videoChat)
  }
}
