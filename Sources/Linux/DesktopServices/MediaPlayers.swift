import Foundation

/// The desktop's media players, which step back while a call is active (MPRIS 2.2).
///
/// Those that play are paused, and those of them that are still paused afterwards play on: what the
/// user did with a player meanwhile counts. Without a bus nothing is paused; players that were
/// paused play on once there is one.
///
/// **Thread safety:** any thread; nothing waits for a player, since all is done on a queue of its
/// own.
// SAFETY: what changes is touched on `queue` only.
package final class MediaPlayers: @unchecked Sendable {
  private let queue = DispatchQueue(label: "avfaudio.players")
  private let desktop: LastingBus
  private var paused: [String] = []
  /// Whether they may play on; without a bus that waits for the next one.
  private var isOver = false

  private static let names = "org.mpris.MediaPlayer2."
  private static let path = "/org/mpris/MediaPlayer2"
  private static let player = "org.mpris.MediaPlayer2.Player"

  /// The players on the bus at `address`, by default the user's; it is connected to when it is
  /// needed.
  package init(address: String? = nil) {
    desktop = LastingBus(address: address)
    // Players may find a restarted bus a moment later.
    desktop.whenBack(afterMilliseconds: LastingBus.settlingMilliseconds) { [weak self] _ in
      guard let self else { return }
      queue.async { [self] in playOn() }
    }
  }

  /// The players that were paused and not resumed, once what was asked before is done; for tests.
  var pausedNames: [String] { queue.sync { paused } }

  /// Pauses every player that plays.
  package func pause() {
    queue.async { [self] in
      isOver = false
      guard let bus = desktop.bus else { return }
      let players = bus.names.filter { $0.hasPrefix(Self.names) }
      for name in players where Self.status(of: name, on: bus) == "Playing" {
        Self.tell(name, "Pause", on: bus)
        paused.append(name)
      }
    }
  }

  /// Lets those play on that were paused here; without a bus, once there is one.
  package func resume() {
    queue.async { [self] in
      isOver = true
      playOn()
    }
  }

  /// Leaves them as they are.
  package func forget() {
    queue.async { [self] in (paused, isOver) = ([], false) }
  }

  private func playOn() {
    guard isOver, !paused.isEmpty, let bus = desktop.bus else { return }
    for name in paused where Self.status(of: name, on: bus) == "Paused" {
      Self.tell(name, "Play", on: bus)
    }
    // If the bus went meanwhile, they may not have got the call.
    if bus.isConnected { (paused, isOver) = ([], false) }
  }

  private static func status(of name: String, on bus: BusConnection) -> String? {
    guard
      case .string(let status)? =
        bus.property("PlaybackStatus", of: player, at: path, on: name)
    else { return nil }
    return status
  }

  private static func tell(_ name: String, _ member: String, on bus: BusConnection) {
    _ = bus.ask(name, path: path, interface: player, member, [])
  }
}
