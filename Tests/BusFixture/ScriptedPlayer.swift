import DesktopServices
import Synchronization

/// A media player on the bus, as MPRIS describes one.
package final class ScriptedPlayer: Sendable {
  private static let interface = "org.mpris.MediaPlayer2.Player"
  private let bus: BusConnection
  private let state: Mutex<(status: String, volume: Double)>
  private let changes = AsyncStream<String>.makeStream()

  /// The methods called on it.
  package var told: AsyncStream<String> { changes.stream }

  /// A player of that name, PlaybackStatus and Volume; nil if the bus is not there.
  package init?(_ name: String, _ status: String, volume: Double = 1, address: String) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    state = Mutex((status, volume))
    let service = "org.mpris.MediaPlayer2.\(name)"
    let properties = "org.freedesktop.DBus.Properties"
    let serves = bus.serve(service, interface: properties) { [weak self] message in
      // A question may come after the test.
      guard let self else { return nil }
      guard message.arguments.contains(.string("Volume")) else {
        return [.variant(.string(self.status))]
      }
      guard message.member == "Set" else { return [.variant(.double(self.volume))] }
      guard case .double(let volume)? = message.arguments.last else { return nil }
      state.withLock { $0.volume = volume }
      changes.continuation.yield("Volume \(volume)")
      return []
    }
    guard serves else { return nil }
    _ = bus.serve(service, interface: Self.interface) { [weak self] message in
      // A question may come after the test.
      guard let self else { return nil }
      set(message.member == "Pause" ? "Paused" : "Playing")
      changes.continuation.yield(message.member)
      return []
    }
  }

  /// Changes the PlaybackStatus, as the user would.
  package func set(_ status: String) { state.withLock { $0.status = status } }

  /// Its Volume, which the user may change.
  package var volume: Double {
    get { state.withLock { $0.volume } }
    set { state.withLock { $0.volume = newValue } }
  }

  /// Its PlaybackStatus.
  package var status: String { state.withLock { $0.status } }
}
