import ALSAAudio
import RealTime

/// Presence of the sound servers that a running session uses.
///
/// A value without I/O that is passed each change of route. Devices other than named cards, files
/// and `null` are assumed to be a sound server's.
package struct SoundServices: Sendable {
  /// An event of a sound server.
  package enum News: Sendable {
    case lost, reset
  }

  /// Sides whose server has gone.
  private var missing: StreamDirections = []

  /// Starts with every server present.
  package init() {}

  /// Notes a change of route; nil if it neither lost nor restored a server.
  package mutating func note(
    from before: RoutePlan.Route,
    to after: RoutePlan.Route,
    because reason: RouteChange.Reason
  ) -> News? {
    let wasMissing = !missing.isEmpty
    note(.capture, from: before.capture, to: after.capture, because: reason)
    note(.playback, from: before.playback, to: after.playback, because: reason)
    return wasMissing == !missing.isEmpty ? nil : missing.isEmpty ? .reset : .lost
  }

  private mutating func note(
    _ side: StreamDirections,
    from before: DeviceName?,
    to after: DeviceName?,
    because reason: RouteChange.Reason
  ) {
    guard before != after else { return }
    if after != nil {
      missing.remove(side)
    } else if reason == .deviceLost, let before, Self.isServer(before) {
      missing.insert(side)
    }
  }

  // A device that is neither a card nor a file goes through a server that may be restarted.
  private static func isServer(_ device: DeviceName) -> Bool {
    if case .pcm = device { CardName(device) == nil } else { false }
  }
}
