import ALSAAudio
import AudioRouting
import Foundation
import RealTime
import Synchronization

extension AVAudioSession {
  /// Changes the state, moves a running voice accordingly, and notifies observers of a new route.
  func changeRoute(because reason: RouteChangeReason, _ change: (inout SessionState) -> Void) {
    let (before, after, running) = state.withLock { state in
      let before = state
      change(&state)
      if state.devicesAsRouted != before.devicesAsRouted { state.wishReason = reason }
      let running = state.activation.running?.supervisor.route
      // The supervisor of a running engine reports when it has the devices.
      state.reroute()
      return (before, state, running)
    }
    let previous = Self.route(in: before, running: running)
    guard previous != Self.route(in: after, running: running) else { return }
    postRouteChange(reason, from: previous)
  }

  /// Notifies observers of devices that were plugged in or lost while the voice runs.
  ///
  /// Called by the supervisor, which must not wait for the session: the session may be waiting for
  /// it.
  func post(_ change: RouteChange) {
    notifications.async { [self] in
      let (category, news, reason) = state.withLock { state in
        state.knownCards.merge(change.identities)
        state.granted = change.granted
        let news = state.services.note(
          from: change.before,
          to: change.after,
          because: change.reason
        )
        let reason = Self.reason(change.reason, wish: state.wishReason)
        // A device that comes or goes ends an override, and the voice moves once more.
        if change.reason != .newWish, state.override != nil {
          state.override = nil
          state.reroute()
        }
        return (state.effectiveCategory, news, reason)
      }
      if news == .lost { post(Self.mediaServicesWereLostNotification) }
      postRouteChange(reason, from: Self.route(change.before, in: category))
      if news == .reset { post(Self.mediaServicesWereResetNotification) }
    }
  }

  private static func reason(
    _ reason: RouteChange.Reason,
    wish: RouteChangeReason
  ) -> RouteChangeReason {
    switch reason {
    case .newDevice: .newDeviceAvailable
    case .deviceLost: .oldDeviceUnavailable
    case .newWish: wish
    }
  }

  private func post(_ name: Notification.Name) {
    NotificationCenter.default.post(name: name, object: self)
  }

  /// Caches the labels of the devices in use, since an unplugged device has none to read.
  func learnPorts() {
    notifications.async { [self] in _ = currentRoute }
  }

  private func postRouteChange(
    _ reason: RouteChangeReason,
    from previous: AVAudioSessionRouteDescription
  ) {
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
    route(in: state, running: state.activation.running?.supervisor.route)
  }

  /// Returns the running route, or else the one that an activation would take.
  private static func route(
    in state: SessionState,
    running: RoutePlan.Route?
  ) -> AVAudioSessionRouteDescription {
    if let running { return route(running, in: state.effectiveCategory) }
    let wished = RoutePlan(
      state.devicesAsRouted,
      cards: state.devices.automatic.isEmpty ? [] : SoundCard.all(),
      known: state.knownCards,
      at: MonotonicClock.now()
    )
    return route(wished.wantedRoute, in: state.effectiveCategory)
  }

  private static func route(
    _ route: RoutePlan.Route,
    in category: Category
  ) -> AVAudioSessionRouteDescription {
    let microphone = records(category) ? route.capture : nil
    let loudspeaker = category == .record ? nil : route.playback
    return AVAudioSessionRouteDescription(
      inputs: microphone.map { [SessionPort.description(of: $0, .input)] } ?? [],
      outputs: loudspeaker.map { [SessionPort.description(of: $0, .output)] } ?? []
    )
  }

  /// Returns the machine's own loudspeaker: the selected device if it is one, else the first found;
  /// nil if there is none.
  static func speaker(besides devices: Devices) -> AVAudioSessionPortDescription? {
    let chosen = SessionPort.description(of: devices.playback, .output)
    if chosen.portType == .builtInSpeaker { return chosen }
    return SessionPort.all(.output).first { $0.portType == .builtInSpeaker }
  }

  /// Returns the machine's own microphone, nil if there is none.
  ///
  /// Prefers the one on the loudspeaker's device, then the one on its card, then the first found.
  static func microphone(
    beside speaker: AVAudioSessionPortDescription
  ) -> AVAudioSessionPortDescription? {
    let own = SessionPort.all(.input).filter { $0.portType == .builtInMic }
    let card = CardName(DeviceName(speaker.uid))?.card
    return own.first { $0.uid == speaker.uid }
      ?? own.first { card != nil && CardName(DeviceName($0.uid))?.card == card } ?? own.first
  }
}
