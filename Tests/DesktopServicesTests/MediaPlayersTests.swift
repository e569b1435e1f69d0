import BusFixture
@testable import DesktopServices
import Testing

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

  @Test(.timeLimit(.minutes(1)))
  func playersPlayOnWhenTheBusIsBack() async throws {
    guard let daemon = try BusDaemon() else { return }
    let music = try #require(ScriptedPlayer("music", "Playing", address: daemon.address))
    let players = MediaPlayers(address: daemon.address)
    players.pause()
    var told = music.told.makeAsyncIterator()
    #expect(await told.next() == "Pause")
    daemon.stop()
    players.resume()
    #expect(players.pausedNames == ["org.mpris.MediaPlayer2.music"])
    try daemon.start()
    let again = try #require(ScriptedPlayer("music", "Paused", address: daemon.address))
    var toldAgain = again.told.makeAsyncIterator()
    #expect(await toldAgain.next() == "Play")
    #expect(players.pausedNames.isEmpty)
  }

  @Test func withoutABusNothingHappens() {
    let players = MediaPlayers(address: "unix:path=/nonexistent")
    players.pause()
    players.resume()
    #expect(players.pausedNames.isEmpty)
  }
}
