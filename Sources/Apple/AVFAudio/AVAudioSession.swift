import ALSAAudio
public import AudioRouting
import DesktopServices
public import Foundation
import FoundationAdditions
import MediaCore
import RealTime
public import SpeechDSP
import Synchronization
public import VoiceEngine

/// The audio session: the process's use of sound, and its permission to use it at the moment.
///
/// In a call the system activates it at call priority, exactly when a start, answer or un-hold
/// action has been fulfilled, and deactivates it when the last audible call has ended or is held.
/// Activation takes the sound devices and starts the real-time voice thread; deactivation releases
/// both.
///
/// **Thread safety:** every member may be used from any thread. `setActive` blocks for as long as
/// the devices take to open; nothing else waits for them.
///
/// Differs from Apple's: `devices`, `announceCalls`, `speechFilters`, `usesCardProfiles` and
/// `voiceEngine` are additions for Linux, where an app chooses its sound
/// devices by name and runs its voice through the engine.
// SAFETY: all state is in a mutex.
open class AVAudioSession: NSObject, @unchecked Sendable {
  /// State of the session.
  ///
  /// The lock is held only briefly: never while a device is opened or a service is asked.
  let state = Mutex(SessionState())
  /// Serial queue on which devices are opened and closed.
  let operations = DispatchQueue(label: "avfaudio.operations", qos: .userInteractive)
  /// Queue on which notifications are posted, never the main thread.
  let notifications = DispatchQueue(label: "avfaudio.notifications")
  /// Players of other programs, paused while the session is active.
  let players: MediaPlayers
  let arbiter: CallArbiter
  let reservations: CardReservations
  /// Service that is asked for real-time scheduling where the system denies it.
  let realTimeKit = RealTimeKit()
  /// True to arbitrate virtual devices as well; for tests.
  let arbitratesAll: Bool

  /// Creates the session of a process on the user's desktop.
  override public convenience init() { self.init(bus: nil, arbitratesAll: false) }

  /// Creates a session that uses the bus at `address`; nil for the user's session bus.
  init(bus address: String?, arbitratesAll: Bool) {
    players = MediaPlayers(address: address, folder: BaseFolder.runtime())
    arbiter = CallArbiter(address: address)
    reservations = CardReservations(address: address)
    self.arbitratesAll = arbitratesAll
    super.init()
  }

  /// The devices of a session.
  public typealias Devices = DeviceSelection

  private static let shared = AVAudioSession()

  /// The session of this process.
  open class func sharedInstance() -> AVAudioSession {
    shared
  }

  // MARK: Category and mode

  /// The app's use of sound; `soloAmbient` at first.
  open var category: Category { state.withLock { $0.category } }
  /// The mode, which adapts the category to a use such as voice chat; `default` at first.
  open var mode: Mode { state.withLock { $0.mode } }
  /// Options set with the category, and those that they and the mode imply.
  open var categoryOptions: CategoryOptions { state.withLock { $0.effectiveOptions } }
  /// Sharing of routes with other apps.
  open var routeSharingPolicy: RouteSharingPolicy { state.withLock { $0.policy } }
  /// Categories that can be set.
  open var availableCategories: [Category] {
    [.ambient, .soloAmbient, .playback, .record, .playAndRecord, .multiRoute]
  }
  /// Modes that suit the category.
  open var availableModes: [Mode] {
    let all: [Mode] = [
      .default, .voiceChat, .videoChat, .gameChat, .videoRecording, .measurement, .moviePlayback,
      .spokenAudio, .voicePrompt,
    ]
    return all.filter { SessionState.fits($0, category) }
  }

  /// Sets the category, clears options and override, and keeps the mode if it suits.
  open func setCategory(_ category: Category) throws {
    try setCategory(category, options: [])
  }

  /// Sets category and options, clears the override, and keeps the mode if it suits.
  open func setCategory(_ category: Category, options: CategoryOptions) throws {
    let mode = SessionState.fits(mode, category) ? mode : .default
    try setCategory(category, mode: mode, options: options)
  }

  /// Sets category, mode and options, and clears the override.
  ///
  /// Throws `badParam` if they do not suit each other, and changes nothing then.
  open func setCategory(
    _ category: Category,
    mode: Mode,
    options: CategoryOptions = []
  ) throws {
    try setCategory(category, mode: mode, policy: routeSharingPolicy, options: options)
  }

  /// Sets category, mode, policy and options, and clears the override.
  ///
  /// Throws `badParam` if they do not suit each other, and changes nothing then.
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
      state.override = nil
    }
    followFilters()
  }

  /// Sets the mode and keeps the options; the filters of a running engine follow.
  ///
  /// Throws `badParam` if it does not suit the category.
  open func setMode(_ mode: Mode) throws {
    let (category, options) = state.withLock { ($0.category, $0.options) }
    if let objection = SessionState.objection(to: category, mode, options) {
      throw ErrorCode.badParam.error(reason: objection)
    }
    changeRoute(because: .categoryChange) { $0.mode = mode }
    followFilters()
  }

  // MARK: Additions for Linux

  /// Devices that an activation opens; both `default` at first.
  ///
  /// Setting them while the session is active moves the voice over as soon as they can be opened;
  /// an absent device is waited for. Programs to pause are chosen at the activation only.
  public var devices: Devices {
    get { state.withLock { $0.devices } }
    set {
      state.withLock { state in
        state.devices = newValue
        state.reroute()
      }
    }
  }

  /// Tells the desktop's sound servers that this program's sound belongs to calls, so that they may
  /// lower or pause other sound by their own rules.
  ///
  /// To be called first in a program, before there are other threads: it sets environment
  /// variables.
  public static func announceCalls() { StreamRole.announceCalls() }

  /// Filters of the voice; nil to choose them by mode.
  public var speechFilters: SpeechFilterSettings? {
    get { state.withLock { $0.speechFilters } }
    set {
      state.withLock { $0.speechFilters = newValue }
      followFilters()
    }
  }

  /// True if the next activation sets cards up by the profiles of ALSA's Use Case Manager; false at
  /// first.
  ///
  /// For machines without a sound server, which would do this itself; the profile also sets the
  /// mixer levels.
  public var usesCardProfiles: Bool {
    get { state.withLock { $0.usesCardProfiles } }
    set { state.withLock { $0.usesCardProfiles = newValue } }
  }

  /// The running engine; nil while the session is inactive.
  public var voiceEngine: CallEngine? { state.withLock { $0.activation.running?.engine } }

  // MARK: Activation

  /// Activates or deactivates the session outside calls.
  ///
  /// During a call the system owns the activation: this has no effect then and throws no error, as
  /// since iOS 26. Activation throws `insufficientPriority` while calls are held and none is
  /// active, and, if the category records, while another program has the desktop's active call.
  /// When another program takes it later, the session is interrupted.
  open func setActive(_ active: Bool, options: SetActiveOptions = []) throws {
    let belongsToCalls = state.withLock { $0.belongsToCalls }
    guard !belongsToCalls else { return }
    if active { watchOthers() }
    try operations.sync {
      if active { try activateForApp() } else { deactivateForApp(options) }
    }
  }

  // MARK: Route

  /// The inputs and outputs in use, or those that would be if the session were active.
  open var currentRoute: AVAudioSessionRouteDescription {
    Self.route(in: state.withLock { $0 })
  }

  /// Available microphones; nil if the category does not record.
  open var availableInputs: [AVAudioSessionPortDescription]? {
    let (category, devices) = state.withLock { ($0.effectiveCategory, $0.devices) }
    guard Self.records(category) else { return nil }
    let inputs = SessionPort.all(.input)
    let chosen = SessionPort.description(of: devices.capture, .input)
    return inputs.contains(chosen) ? inputs : [chosen] + inputs
  }

  /// True if there is a microphone.
  open var isInputAvailable: Bool {
    if case .pcm = devices.capture { !SessionPort.all(.input).isEmpty } else { true }
  }

  /// Data sources of the input: nil, since a port's microphones are not distinguished.
  open var inputDataSources: [AVAudioSessionDataSourceDescription]? { nil }
  /// Data sources of the output: nil, since a port's loudspeakers are not distinguished.
  open var outputDataSources: [AVAudioSessionDataSourceDescription]? { nil }

  /// The microphone set by `setPreferredInput`, nil if none.
  open var preferredInput: AVAudioSessionPortDescription? { state.withLock { $0.preferredInput } }

  /// Prefers a microphone; nil leaves the choice to the system.
  ///
  /// While the session is active the voice moves over as soon as the device can be opened. A
  /// headset's microphone brings its loudspeaker along. Throws `badParam` for an absent port.
  open func setPreferredInput(_ inPort: AVAudioSessionPortDescription?) throws {
    guard let inPort else {
      return changeRoute(because: .override) { state in
        guard state.preferredInput != nil else { return }
        state.preferredInput = nil
        state.devices = state.devicesBeforePreference ?? .systemDefault
        state.devicesBeforePreference = nil
      }
    }
    guard availableInputs?.contains(inPort) ?? false else {
      throw ErrorCode.badParam.error(reason: "there is no microphone \"\(inPort.uid)\"")
    }
    let isHeadset = [Port.bluetoothHFP, .usbAudio, .headsetMic].contains(inPort.portType)
    let twin = isHeadset ? SessionPort.all(.output).first { $0.uid == inPort.uid } : nil
    changeRoute(because: .override) { state in
      if state.preferredInput == nil { state.devicesBeforePreference = state.devices }
      state.preferredInput = inPort
      state.devices.capture = DeviceName(inPort.uid)
      // What is listed is meant as it is now, whatever card had that name before.
      state.forgetCard(of: state.devices.capture, on: .capture)
      if let twin {
        state.devices.playback = DeviceName(twin.uid)
        state.forgetCard(of: state.devices.playback, on: .playback)
      }
      state.devices.automatic.subtract(twin == nil ? .capture : .both)
    }
  }

  /// Plays on the machine's own loudspeaker, whatever is plugged in, and records from its own
  /// microphone; `none` ends the override.
  ///
  /// While the session is active the voice moves over as soon as the device can be opened. Throws
  /// `badParam` unless the category is `playAndRecord`, and `resourceNotAvailable` if the machine
  /// has no loudspeaker of its own. The next change of category or of the route ends the override,
  /// and so does a deactivation or an interruption.
  open func overrideOutputAudioPort(_ portOverride: PortOverride) throws {
    let (category, devices) = state.withLock { ($0.effectiveCategory, $0.devices) }
    guard category == .playAndRecord else {
      throw ErrorCode.badParam.error(reason: "an override needs the category playAndRecord")
    }
    var override: SessionState.Override?
    if portOverride == .speaker {
      guard let found = Self.speaker(besides: devices) else {
        throw ErrorCode.resourceNotAvailable.error(reason: "there is no loudspeaker")
      }
      override = SessionState.Override(
        speaker: DeviceName(found.uid),
        microphone: Self.microphone(beside: found).map { DeviceName($0.uid) }
      )
    }
    changeRoute(because: .override) { $0.override = override }
  }

  // MARK: Wishes, and what was granted

  /// The rate set by `setPreferredSampleRate`, in hertz; 0 if none.
  open var preferredSampleRate: Double { state.withLock { $0.preferredSampleRate } }
  /// The duration set by `setPreferredIOBufferDuration`, in seconds; 0 if none.
  open var preferredIOBufferDuration: TimeInterval {
    state.withLock { $0.preferredIOBufferDuration }
  }
  /// The microphone's rate in hertz: the current one, else the last one; at first 48000.
  open var sampleRate: Double { state.withLock { $0.granted.sampleRate } }
  /// The loudspeaker's period in seconds: the current one, else the last one; at first 0.0025.
  open var ioBufferDuration: TimeInterval { state.withLock { $0.granted.bufferDuration } }

  /// Prefers a sample rate in hertz, requested from the card at the next activation.
  ///
  /// The property `sampleRate` is the rate that the card granted. The voice path works at 48 kHz in
  /// any case. Throws `badParam` below 1 Hz or above 1 MHz.
  open func setPreferredSampleRate(_ sampleRate: Double) throws {
    guard sampleRate >= 1, sampleRate <= 1_000_000 else {
      throw ErrorCode.badParam.error(reason: "a sample rate is a positive number of hertz")
    }
    state.withLock { $0.preferredSampleRate = sampleRate }
  }

  /// Prefers a device period in seconds, requested from the card at the next activation.
  ///
  /// `ioBufferDuration` is the period that the card granted. Throws `badParam` unless `duration` is
  /// positive and at most 1 s.
  open func setPreferredIOBufferDuration(_ duration: TimeInterval) throws {
    guard duration > 0, duration <= 1 else {
      throw ErrorCode.badParam.error(reason: "a buffer duration is between 0 and 1 s")
    }
    state.withLock { $0.preferredIOBufferDuration = duration }
  }

  /// Sets the preferred number of input channels, which has no effect, as the voice path is mono;
  /// throws `badParam` if it is not positive.
  open func setPreferredInputNumberOfChannels(_ count: Int) throws {
    try setPreferredChannels(count, \.preferredInputChannels)
  }

  /// Sets the preferred number of output channels, which has no effect, as the voice path is mono;
  /// throws `badParam` if it is not positive.
  open func setPreferredOutputNumberOfChannels(_ count: Int) throws {
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

  /// The number set by `setPreferredInputNumberOfChannels`, 0 if none.
  open var preferredInputNumberOfChannels: Int { state.withLock { $0.preferredInputChannels } }
  /// The number set by `setPreferredOutputNumberOfChannels`, 0 if none.
  open var preferredOutputNumberOfChannels: Int { state.withLock { $0.preferredOutputChannels } }
  /// Number of channels that the voice path records: 1, or 0 without a microphone.
  open var inputNumberOfChannels: Int { currentRoute.inputs.isEmpty ? 0 : 1 }
  /// Number of channels that the voice path plays: 1, or 0 without a loudspeaker.
  open var outputNumberOfChannels: Int { currentRoute.outputs.isEmpty ? 0 : 1 }

  // MARK: Levels and delays

  /// Delay from the microphone to the voice path in seconds, taken to be `ioBufferDuration`.
  open var inputLatency: TimeInterval { ioBufferDuration }

  /// Delay from the voice path to the loudspeaker in seconds.
  ///
  /// The measured time from the writing of a frame until it is played while the session is active,
  /// else the period.
  open var outputLatency: TimeInterval {
    let fill = voiceEngine?.statistics()?.playbackFillNanoseconds
    return fill.map { Double($0) / 1e9 } ?? ioBufferDuration
  }

  /// Volume of the session itself: always 1, since the card's mixer is the user's.
  open var outputVolume: Float { 1 }
  /// Gain of the session itself: always 1, since the card's mixer is the user's.
  open var inputGain: Float { 1 }
  /// False: the gain is that of the card's mixer.
  open var isInputGainSettable: Bool { false }
  /// Throws `badParam`: the gain is that of the card's mixer.
  open func setInputGain(_ gain: Float) throws {
    throw ErrorCode.badParam.error(reason: "the gain is the card's mixer's")
  }

  // MARK: Others

  /// True if another program plays.
  ///
  /// Differs from Apple's: the sound of other programs is not observed, so it is always false.
  open var isOtherAudioPlaying: Bool { false }
  /// True if secondary sound should be silent; always false, as `isOtherAudioPlaying` is.
  open var secondaryAudioShouldBeSilencedHint: Bool { false }

  /// The value set by `setAllowHapticsAndSystemSoundsDuringRecording`.
  open var allowHapticsAndSystemSoundsDuringRecording: Bool {
    state.withLock { $0.allowsHapticsDuringRecording }
  }

  /// Sets whether the desktop may make sounds during a recording.
  ///
  /// Without effect, since the desktop is not informed of it.
  open func setAllowHapticsAndSystemSoundsDuringRecording(_ isAllowed: Bool) throws {
    state.withLock { $0.allowsHapticsDuringRecording = isAllowed }
  }

  /// The value set by `setPrefersNoInterruptionsFromSystemAlerts`.
  open var prefersNoInterruptionsFromSystemAlerts: Bool {
    state.withLock { $0.prefersNoInterruptionsFromSystemAlerts }
  }

  /// Sets whether alerts should wait; without effect, since the desktop is not informed of it.
  open func setPrefersNoInterruptionsFromSystemAlerts(_ isPreferred: Bool) throws {
    state.withLock { $0.prefersNoInterruptionsFromSystemAlerts = isPreferred }
  }

  // MARK: Recording

  /// The user's permission to record: always `granted`, since the desktop is not asked.
  open var recordPermission: RecordPermission { .granted }

  /// Calls `response` with true, on an arbitrary thread; the desktop is not asked for permission.
  open func requestRecordPermission(_ response: @escaping (Bool) -> Void) {
    let crossing = Answer(give: response)
    DispatchQueue.global().async { crossing.give(true) }
  }

  // SAFETY: handed to one thread, called there once; Apple's parameter is not Sendable.
  private struct Answer: @unchecked Sendable {
    let give: (Bool) -> Void
  }
}
