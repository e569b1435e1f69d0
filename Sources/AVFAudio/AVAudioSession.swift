public import ALSAIO
public import Foundation
import MediaTime
public import SpeechDSP
import Synchronization
public import VoiceEngine

/// The audio session: what the process does with sound, and whether it may at this moment.
///
/// In a call the system activates it at call priority, exactly when a start, answer or un-hold action
/// has been fulfilled, and deactivates it when the last audible call has ended or is held. Activation
/// takes the sound devices and starts the real-time voice thread; deactivation releases both.
///
/// **Thread safety:** every member may be used from any thread. Activation blocks for as long as
/// the device takes to open.
///
/// Differs from Apple's: `devices`, `speechFilters` and `voiceEngine` are additions for Linux, where
/// an app chooses its sound devices by name and runs its voice through the engine.
open class AVAudioSession: NSObject, @unchecked Sendable {
  // SAFETY: all state is in a mutex.
  let state = Mutex(SessionState())
  /// Notifications are posted here, never on the main thread.
  let notifications = DispatchQueue(label: "avfaudio.notifications")

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

  private static let shared = AVAudioSession()

  /// The session of this process.
  open class func sharedInstance() -> AVAudioSession {
    shared
  }

  // MARK: Category and mode

  /// What the app does with sound; `soloAmbient` at first.
  open var category: Category { state.withLock { $0.category } }
  /// How it uses the category; `default` at first.
  open var mode: Mode { state.withLock { $0.mode } }
  /// The refinements that were set with the category, and those that they and the mode imply.
  open var categoryOptions: CategoryOptions { state.withLock { $0.effectiveOptions } }
  /// How routes are shared.
  open var routeSharingPolicy: RouteSharingPolicy { state.withLock { $0.policy } }
  /// The categories that can be set.
  open var availableCategories: [Category] {
    [.ambient, .soloAmbient, .playback, .record, .playAndRecord, .multiRoute]
  }
  /// The modes that go with the category.
  open var availableModes: [Mode] {
    let all: [Mode] = [
      .default, .voiceChat, .videoChat, .gameChat, .videoRecording, .measurement, .moviePlayback,
      .spokenAudio, .voicePrompt,
    ]
    return all.filter { SessionState.fits($0, category) }
  }

  /// Sets the category, clears options and override, and keeps the mode if it fits.
  open func setCategory(_ category: Category) throws {
    try setCategory(category, options: [])
  }

  /// Sets category and options, clears the override, and keeps the mode if it fits.
  open func setCategory(_ category: Category, options: CategoryOptions) throws {
    let mode = SessionState.fits(mode, category) ? mode : .default
    try setCategory(category, mode: mode, options: options)
  }

  /// Sets category, mode and options, and clears the override.
  ///
  /// Throws `badParam`, changing nothing, if they do not fit.
  open func setCategory(
    _ category: Category,
    mode: Mode,
    options: CategoryOptions = []
  ) throws {
    try setCategory(category, mode: mode, policy: routeSharingPolicy, options: options)
  }

  /// Sets category, mode, policy and options, and clears the override.
  ///
  /// Throws `badParam`, changing nothing, if they do not fit.
  open func setCategory(
    _ category: Category,
    mode: Mode,
    policy: RouteSharingPolicy,
    options: CategoryOptions = []
  ) throws {
    if let objection = SessionState.objection(to: category, mode, options) {
      throw ErrorCode.badParam.error(reason: objection)
    }
    changeRoute(because: .categoryChange) { state in
      state.category = category
      state.mode = mode
      state.policy = policy
      state.options = options
      state.override = .none
    }
  }

  /// Sets the mode, and clears options and override.
  ///
  /// Throws `badParam` if it does not fit the category.
  open func setMode(_ mode: Mode) throws {
    try setCategory(category, mode: mode, options: [])
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
  public var voiceEngine: CallEngine? { state.withLock { $0.activation.running?.engine } }

  // MARK: Activation

  /// Activates or deactivates the session outside calls.
  ///
  /// During a call the system owns the activation: activating changes nothing, deactivating throws
  /// `isBusy`. While calls are held and none is heard, activating throws `insufficientPriority`.
  open func setActive(_ active: Bool, options: SetActiveOptions = []) throws {
    try state.withLock { state in
      switch (state.activation, active) {
      case (.byCall, true), (.byApp, true), (.inactive, false):
        break
      case (.byCall, false):
        throw ErrorCode.isBusy.error(reason: "a call holds the session")
      case (.inactive, true):
        guard !state.isWithheldByCalls else {
          throw ErrorCode.insufficientPriority.error(reason: "calls are on hold")
        }
        state.activation = .byApp(try Self.run(&state))
      case (.byApp(let running), false):
        running.engine.stop()
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
      case .byApp(let running):
        state.activation = .byCall(running)
      case .inactive:
        state.activation = .byCall(try Self.run(&state))
      }
    }
  }

  /// How long devices stay open when another call may want them.
  private static let graceTime = DispatchTimeInterval.milliseconds(500)

  /// Deactivates the session after the last audible call, and releases the devices: at once, or after
  /// half a second if another call lives that may want them (a swap must not click).
  package func deactivateForCall(keepingDevices: Bool) {
    let leaving = state.withLock { state -> SessionState.Lingering? in
      guard let running = state.activation.running else { return nil }
      state.activation = .inactive
      let lingering = SessionState.Lingering(running: running, number: state.nextLingering)
      state.nextLingering += 1
      state.lingering = lingering
      return lingering
    }
    guard let leaving else { return }
    leaving.running.engine.detachAll()
    guard keepingDevices else { return release(leaving.number) }
    notifications.asyncAfter(deadline: .now() + Self.graceTime) { [self] in
      release(leaving.number)
    }
  }

  private func release(_ number: Int) {
    let engine = state.withLock { state -> CallEngine? in
      guard let lingering = state.lingering, lingering.number == number else { return nil }
      state.lingering = nil
      return lingering.running.engine
    }
    engine?.stop()
  }

  /// Whether calls live of which none is heard; then nobody else may take the session.
  package func setWithheldByCalls(_ isWithheld: Bool) {
    state.withLock { $0.isWithheldByCalls = isWithheld }
  }

  // The engine that lingers if it is as wished, else a new one.
  private static func run(_ state: inout SessionState) throws -> SessionState.Running {
    let setup = state.setup
    if let lingering = state.lingering?.running {
      state.lingering = nil
      if lingering.setup == setup {
        lingering.engine.setInputMuted(state.isInputMuted ? .muted : .unmuted)
        return lingering
      }
      lingering.engine.stop()
    }
    let headset = try Headset(
      capture: setup.devices.capture,
      playback: setup.devices.playback,
      wishes: setup.wishes
    )
    state.grantedSampleRate = Double(headset.captureRate.hertz)
    state.grantedBufferDuration =
      Double(headset.playbackPeriod) / Double(headset.playbackRate.hertz)
    let engine = try CallEngine(
      device: headset,
      settings: EngineSettings(filters: setup.filters)
    )
    if state.isInputMuted { engine.setInputMuted(.muted) }
    return SessionState.Running(engine: engine, setup: setup)
  }
}
