import Foundation
import Synchronization

extension AVAudioSession {
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

  static func records(_ category: Category) -> Bool {
    category == .playAndRecord || category == .record || category == .multiRoute
  }

  static func route(in state: SessionState) -> AVAudioSessionRouteDescription {
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
