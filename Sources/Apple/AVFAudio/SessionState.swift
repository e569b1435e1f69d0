import ALSAAudio
import AudioRouting
import MediaCore
import RealTime
import SpeechDSP
import VoiceEngine

/// The session's state, and the rules between category, mode and options.
struct SessionState: Sendable {
  enum Activation: Sendable {
    case inactive
    case byApp(Running)
    case byCall(Running)

    var running: Running? {
      switch self {
      case .inactive: nil
      case .byApp(let running), .byCall(let running): running
      }
    }

    /// True while the app has the devices, outside calls.
    var isOfApp: Bool { if case .byApp = self { true } else { false } }
    /// True while a call has the devices.
    var isOfCall: Bool { if case .byCall = self { true } else { false } }
  }

  /// Parameters of an engine.
  struct Setup: Equatable, Sendable {
    var devices: AVAudioSession.Devices
    let wishes: DeviceWishes
    var filters: SpeechFilterSettings
  }

  /// An engine, its parameters, and the supervisor that keeps it supplied with devices.
  struct Running: Sendable {
    let engine: CallEngine
    var setup: Setup
    let supervisor: RouteSupervisor

    /// Releases the devices; blocks for some milliseconds, or for seconds if a device hangs.
    func stop() {
      supervisor.stop()
      engine.stop()
      supervisor.giveBackCards()
    }
  }

  /// An engine whose devices stay open for a moment after a deactivation.
  struct Lingering: Sendable {
    let running: Running
    let number: Int
  }

  var category = AVAudioSession.Category.soloAmbient
  var mode = AVAudioSession.Mode.default
  var options: AVAudioSession.CategoryOptions = []
  var policy = AVAudioSession.RouteSharingPolicy.default
  /// Devices of an override: the machine's own loudspeaker and microphone.
  struct Override: Equatable, Sendable {
    let speaker: DeviceName
    /// Nil if the machine has no microphone of its own.
    let microphone: DeviceName?
  }

  /// Nil unless the app has overridden the route.
  ///
  /// Ends when the route changes, or when the session is deactivated or interrupted.
  var override: Override?
  /// Reason of the last change of the wanted devices.
  var wishReason = AVAudioSession.RouteChangeReason.override
  var preferredSampleRate = 0.0
  var preferredIOBufferDuration = 0.0
  var preferredInputChannels = 0
  var preferredOutputChannels = 0
  var devices = AVAudioSession.Devices.systemDefault
  var preferredInput: AVAudioSessionPortDescription?
  /// Devices selected before the first preferred input.
  var devicesBeforePreference: AVAudioSession.Devices?
  var speechFilters: SpeechFilterSettings?
  var usesCardProfiles = false
  var isInputMuted = false
  var allowsHapticsDuringRecording = false
  var prefersNoInterruptionsFromSystemAlerts = false
  var prefersInterruptionOnRouteDisconnect = false
  var prefersEchoCancelledInput = false
  var activation = Activation.inactive
  var lingering: Lingering?
  var nextLingering = 1
  /// Number of calls whose activation is in progress.
  var pendingCalls = 0
  var isWithheldByCalls = false
  /// True if another program's call interrupted the app, until the app is notified of its end.
  var isInterrupted = false
  /// True from another program's request to make way until the next claim.
  var isMakingWay = false
  /// True from `giveBack` until the devices are closed; then another program may resume its call.
  var isGivingBack = false
  var isWatchingOthers = false
  var services = SoundServices()
  /// Identities of cards used before, by their device names.
  var knownCards = KnownCards()
  var granted = GrantedFormat()

  /// Deactivates the session, and keeps the engine for a moment in case it is needed again.
  @discardableResult
  mutating func linger(_ running: Running) -> Lingering {
    let lingering = Lingering(running: running, number: nextLingering)
    nextLingering += 1
    activation = .inactive
    override = nil
    self.lingering = lingering
    return lingering
  }

  /// Options in effect: those set, and those that they and the mode imply.
  var effectiveOptions: AVAudioSession.CategoryOptions {
    var effective = options
    if options.contains(.duckOthers) { effective.insert(.mixWithOthers) }
    if mode == .voiceChat || mode == .videoChat { effective.insert(.allowBluetooth) }
    if mode == .videoChat { effective.insert(.defaultToSpeaker) }
    return effective
  }

  /// Category in effect: during a call always `playAndRecord`.
  var effectiveCategory: AVAudioSession.Category {
    if case .byCall = activation { .playAndRecord } else { category }
  }

  /// True while a call has the session, or is about to have it.
  var belongsToCalls: Bool {
    if case .byCall = activation { true } else { pendingCalls > 0 }
  }

  /// Filters that the app has chosen, else those for the mode.
  var filters: SpeechFilterSettings {
    if let speechFilters { return speechFilters }
    let isTwoWay = mode == .voiceChat || mode == .videoChat || mode == .gameChat
    return SpeechFilterSettings(echoCancellation: isTwoWay)
  }

  /// The devices to use: those selected, or those of the override.
  var devicesAsRouted: AVAudioSession.Devices {
    guard let override else { return devices }
    var routed = devices
    routed.playback = override.speaker
    routed.automatic.subtract(.playback)
    guard let microphone = override.microphone else { return routed }
    routed.capture = microphone
    routed.automatic.subtract(.capture)
    return routed
  }

  /// Parameters of the next engine.
  var setup: Setup {
    var wishes = DeviceWishes(usesProfile: usesCardProfiles)
    if preferredIOBufferDuration > 0 {
      wishes.periodNanoseconds = Int64(preferredIOBufferDuration * 1e9)
    }
    if preferredSampleRate >= 1 { wishes.rate = SampleRate(hertz: Int(preferredSampleRate)) }
    return Setup(devices: devicesAsRouted, wishes: wishes, filters: filters)
  }

  /// Takes over an engine and applies the settings that changed while it was started.
  mutating func commit(_ activation: Activation) {
    self.activation = activation
    activation.running?.engine.setInputMuted(isInputMuted ? .muted : .unmuted)
    reroute()
  }

  /// Forgets the card that a device name stood for, so that it selects the card of that name now.
  mutating func forgetCard(of name: DeviceName, on side: StreamDirections) {
    knownCards[side, name] = nil
    devices.known[side, name] = nil
  }

  /// Moves a running engine to the devices that are wanted now.
  mutating func reroute() {
    let wished = devicesAsRouted
    guard var running = activation.running, running.setup.devices != wished else { return }
    running.supervisor.wish(for: wished, known: knownCards)
    running.setup.devices = wished
    replaceRunning(by: running)
  }

  /// A running engine with outdated filters, and the filters to apply; nil if there is none.
  var missingFilters: (engine: CallEngine, filters: SpeechFilterSettings)? {
    guard let running = activation.running, running.setup.filters != filters else { return nil }
    return (running.engine, filters)
  }

  /// Records the filters that were applied to an engine.
  mutating func noteFilters(_ filters: SpeechFilterSettings, of engine: CallEngine) {
    guard var running = activation.running, running.engine === engine else { return }
    running.setup.filters = filters
    replaceRunning(by: running)
  }

  private mutating func replaceRunning(by running: Running) {
    switch activation {
    case .inactive: break
    case .byApp: activation = .byApp(running)
    case .byCall: activation = .byCall(running)
    }
  }

  /// Returns the reason why category, mode and options do not suit each other, nil if they do.
  static func objection(
    to category: AVAudioSession.Category,
    _ mode: AVAudioSession.Mode,
    _ options: AVAudioSession.CategoryOptions
  ) -> String? {
    let isTwoWay = category == .playAndRecord
    if !fits(mode, category) {
      return "the mode \(mode.rawValue) does not go with the category \(category.rawValue)"
    }
    if options.contains(.defaultToSpeaker), !isTwoWay {
      return "defaultToSpeaker needs the category playAndRecord"
    }
    if options.contains(.allowBluetooth), !isTwoWay, category != .record {
      return "allowBluetooth needs a category that records"
    }
    if options.contains(.overrideMutedMicrophoneInterruption), !isTwoWay, category != .record {
      return "overrideMutedMicrophoneInterruption needs a category that records"
    }
    if !options.isDisjoint(with: [.allowBluetoothA2DP, .allowAirPlay]), category == .record {
      return "the category record has no output"
    }
    let mixing: AVAudioSession.CategoryOptions = [.mixWithOthers, .duckOthers]
    let mayMix: [AVAudioSession.Category] = [.playAndRecord, .playback, .multiRoute, .ambient]
    if !options.isDisjoint(with: mixing), !mayMix.contains(category) {
      return "mixing does not go with the category \(category.rawValue)"
    }
    return nil
  }

  /// True if the mode can be used with the category.
  static func fits(_ mode: AVAudioSession.Mode, _ category: AVAudioSession.Category) -> Bool {
    switch mode {
    case .voiceChat, .videoChat, .gameChat: category == .playAndRecord
    case .videoRecording: category == .playAndRecord || category == .record
    case .moviePlayback: category == .playback
    default: true
    }
  }
}
