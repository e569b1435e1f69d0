import BusFixture
@testable import DesktopServices
import Foundation
import Synchronization
import Testing

/// A media player on the bus, as MPRIS describes one.
private final class ScriptedPlayer: Sendable {
  private static let interface = "org.mpris.MediaPlayer2.Player"
  private let bus: BusConnection
  private let state: Mutex<String>
  private let changes = AsyncStream<String>.makeStream()

  /// The methods called on it.
  var told: AsyncStream<String> { changes.stream }

  init?(_ name: String, _ status: String, address: String) {
    guard let bus = BusConnection(address: address) else { return nil }
    self.bus = bus
    state = Mutex(status)
    let service = "org.mpris.MediaPlayer2.\(name)"
    let properties = "org.freedesktop.DBus.Properties"
    let serves = bus.serve(service, interface: properties) { [weak self] _ in
      self.map { [.variant(.string($0.status))] }
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

  /// The user does something with it.
  func set(_ status: String) { state.withLock { $0 = status } }

  var status: String { state.withLock { $0 } }
}

struct MediaPlayersTests {
  @Test(.timeLimit(.minutes(1)))
  func playersThatPlayStepBackAndPlayOn() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let music = try #require(ScriptedPlayer("music", "Playing", address: daemon.address))
    let film = try #require(ScriptedPlayer("film", "Paused", address: daemon.address))
    let radio = try #require(ScriptedPlayer("radio", "Playing", address: daemon.address))
    let players = MediaPlayers(address: daemon.address)
    var musicTold = music.told.makeAsyncIterator()
    var radioTold = radio.told.makeAsyncIterator()

    players.pause()
    #expect(await musicTold.next() == "Pause")
    #expect(await radioTold.next() == "Pause")
    // The user wants no radio any more.
    radio.set("Stopped")
    // A second call, a swap: what is paused already stays on the list.
    players.pause()
    players.resume()
    #expect(await musicTold.next() == "Play")
    #expect(music.status == "Playing" && film.status == "Paused" && radio.status == "Stopped")

    // What was paused for good does not play at the end of the next call.
    music.set("Paused")
    players.resume()
    players.pause()
    radio.set("Playing")
    players.pause()
    #expect(await radioTold.next() == "Pause")
    #expect(music.status == "Paused")
  }

  @Test func withoutABusNothingHappens() {
    let players = MediaPlayers(address: "unix:path=/nonexistent")
    players.pause()
    players.resume()
    #expect(players.pausedNames.isEmpty)
  }
}
