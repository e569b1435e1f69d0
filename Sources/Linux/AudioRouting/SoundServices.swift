import ALSAAudio
import RealTime

/// Whether the sound server that a running session goes through is there.
///
/// A value: it takes changes, and returns whether the server caused them. What is
/// neither a card by its name nor a file is taken for a server's.
package struct SoundServices: Sendable {
  /// An event of a sound server.
  package enum News: Sendable {
    case lost, reset
  }

  /// The sides whose server has gone.
  private var missing: StreamDirections = []

  /// Every server is there.
  package init() {}

  /// Takes in that a route was exchanged for another; nil if no server went or came back by that.
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
