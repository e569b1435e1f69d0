import ALSAIO
import Foundation
import Synchronization

extension AVAudioSession {
  /// Where sound comes from and goes to now, or would if the session were active.
  public var currentRoute: AVAudioSessionRouteDescription {
    Self.route(in: state.withLock { $0 })
  }

  /// The microphones that there are; nil if the category does not record.
  public var availableInputs: [AVAudioSessionPortDescription]? {
    let (category, devices) = state.withLock { ($0.effectiveCategory, $0.devices) }
    guard Self.records(category) else { return nil }
    let inputs = SessionPort.all(.input)
    let chosen = SessionPort.description(of: devices.capture, .input)
    return inputs.contains(chosen) ? inputs : [chosen] + inputs
  }

  /// True if there is a microphone.
  public var isInputAvailable: Bool {
    if case .pcm = devices.capture { !SessionPort.all(.input).isEmpty } else { true }
  }

  /// Several microphones of one port; not told apart here.
  public var inputDataSources: [AVAudioSessionDataSourceDescription]? { nil }
  /// Several loudspeakers of one port; not told apart here.
  public var outputDataSources: [AVAudioSessionDataSourceDescription]? { nil }

  /// The wish of `setPreferredInput`.
  public var preferredInput: AVAudioSessionPortDescription? { state.withLock { $0.preferredInput } }

  /// Wishes for a microphone, which the next activation opens; nil leaves the choice to the system.
  ///
  /// A headset's microphone brings its loudspeaker along. Throws `badParam` for a port that is not
  /// there.
  public func setPreferredInput(_ inPort: AVAudioSessionPortDescription?) throws {
    guard let inPort else {
      return changeRoute(because: .override) { state in
        guard state.preferredInput != nil else { return }
        state.preferredInput = nil
        state.devices = .systemDefault
      }
    }
    guard availableInputs?.contains(inPort) ?? false else {
      throw ErrorCode.badParam.error(reason: "there is no microphone \"\(inPort.uid)\"")
    }
    let isHeadset = [Port.bluetoothHFP, .usbAudio, .headsetMic].contains(inPort.portType)
    let twin = isHeadset ? SessionPort.all(.output).first { $0.uid == inPort.uid } : nil
    changeRoute(because: .override) { state in
      state.preferredInput = inPort
      state.devices.capture = DeviceName(inPort.uid)
      if let twin { state.devices.playback = DeviceName(twin.uid) }
    }
  }

  /// Sends sound to the loudspeaker whatever is plugged in, or no longer; the next activation opens
  /// it.
  ///
  /// Throws `badParam` unless the category is `playAndRecord`, and `resourceNotAvailable` if the
  /// machine has no loudspeaker of its own. The next change of category ends it.
  public func overrideOutputAudioPort(_ portOverride: PortOverride) throws {
    let (category, devices) = state.withLock { ($0.effectiveCategory, $0.devices) }
    guard category == .playAndRecord else {
      throw ErrorCode.badParam.error(reason: "an override needs the category playAndRecord")
    }
    if portOverride == .speaker, Self.speaker(besides: devices) == nil {
      throw ErrorCode.resourceNotAvailable.error(reason: "there is no loudspeaker")
    }
    changeRoute(because: .override) { $0.override = portOverride }
  }

  // MARK: Parts

  /// Makes a change, and tells observers if it moved the route.
  func changeRoute(because reason: RouteChangeReason, _ change: (inout SessionState) -> Void) {
    let (before, after) = state.withLock { state in
      let before = state
      change(&state)
      return (before, state)
    }
    let previous = Self.route(in: before)
    guard previous != Self.route(in: after) else { return }
    notifications.async { [self] in
      NotificationCenter.default.post(
        name: Self.routeChangeNotification,
        object: self,
        userInfo: [
          AVAudioSessionRouteChangeReasonKey: reason.rawValue,
          AVAudioSessionRouteChangePreviousRouteKey: previous,
        ]
      )
    }
  }

  private static func records(_ category: Category) -> Bool {
    category == .playAndRecord || category == .record || category == .multiRoute
  }

  private static func route(in state: SessionState) -> AVAudioSessionRouteDescription {
    let category = state.effectiveCategory
    let running = state.activation.running?.setup.devices
    let devices = running ?? state.devicesAsRouted
    return AVAudioSessionRouteDescription(
      inputs: records(category) ? [SessionPort.description(of: devices.capture, .input)] : [],
      outputs: category == .record ? [] : [SessionPort.description(of: devices.playback, .output)]
    )
  }

  /// The machine's own loudspeaker: the device that is chosen if it is one, else the first there is.
  static func speaker(besides devices: Devices) -> AVAudioSessionPortDescription? {
    let chosen = SessionPort.description(of: devices.playback, .output)
    if chosen.portType == .builtInSpeaker { return chosen }
    return SessionPort.all(.output).first { $0.portType == .builtInSpeaker }
  }
}
