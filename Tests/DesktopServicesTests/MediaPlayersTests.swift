import BusFixture
@testable import DesktopServices
import Foundation
import Testing

struct MediaPlayersTests {
  @Test(.timeLimit(.minutes(10)))
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

  /// A volume that the user sets meanwhile stays, and nobody is lowered twice.
  @Test(.timeLimit(.minutes(10)))
  func playersThatAreLoweredGetTheirVolumeBack() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let music = try #require(
      ScriptedPlayer("music", "Playing", volume: 0.8, address: daemon.address)
    )
    let radio = try #require(ScriptedPlayer("radio", "Playing", address: daemon.address))
    let film = try #require(ScriptedPlayer("film", "Paused", address: daemon.address))
    let players = MediaPlayers(address: daemon.address)
    players.duck()
    players.duck()
    #expect(players.quietNames.sorted() == ["music", "radio"].map { MediaPlayers.names + $0 })
    #expect(abs(music.volume - 0.2) < 0.001 && radio.volume == 0.25 && film.volume == 1)
    #expect(music.status == "Playing")
    radio.volume = 0.5
    players.resume()
    #expect(players.quietNames.isEmpty)
    #expect(music.volume == 0.8 && radio.volume == 0.5)
    // What is left paused is not left low.
    players.duck()
    players.forget()
    #expect(players.quietNames.isEmpty && music.volume == 0.8)
  }

  @Test func quietPlayersAreALineEach() {
    let name = MediaPlayers.names + "music"
    for player in [QuietPlayer(name: name), QuietPlayer(name: name, loweredFrom: 0.3)] {
      #expect(QuietPlayer(line: Substring(player.line)) == player)
    }
    for line in ["", "org.example.music", "\(name) loud", "\(name) nan", "\(name) -1"] {
      #expect(QuietPlayer(line: Substring(line)) == nil, "\(line)")
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func playersPlayOnWhenTheBusIsBack() async throws {
    guard let daemon = try BusDaemon() else { return }
    let music = try #require(ScriptedPlayer("music", "Playing", address: daemon.address))
    let players = MediaPlayers(address: daemon.address)
    players.pause()
    var told = music.told.makeAsyncIterator()
    #expect(await told.next() == "Pause")
    daemon.stop()
    players.resume()
    #expect(players.quietNames == ["org.mpris.MediaPlayer2.music"])
    try daemon.start()
    let again = try #require(ScriptedPlayer("music", "Paused", address: daemon.address))
    var toldAgain = again.told.makeAsyncIterator()
    #expect(await toldAgain.next() == "Play")
    #expect(players.quietNames.isEmpty)
  }

  /// A folder of its own, and the names of what programs that live, or were killed, left there.
  private func withFolder(_ body: (URL, () -> [String]) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("players-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // Nobody looks there again.
    try await body(folder) {
      // A folder that cannot be read has no files.
      (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func whatIsPausedIsNotedUntilItPlaysOn() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let music = try #require(ScriptedPlayer("music", "Playing", address: daemon.address))
    try await withFolder { folder, files in
      let players = MediaPlayers(address: daemon.address, folder: folder)
      players.pause()
      #expect(players.quietNames == ["org.mpris.MediaPlayer2.music"])
      #expect(files().count == 1)
      // A second program leaves it to the first, which lives.
      let others = MediaPlayers(address: daemon.address, folder: folder)
      #expect(others.quietNames.isEmpty && files().count == 1)
      players.resume()
      #expect(players.quietNames.isEmpty && files().isEmpty)
      players.pause()
      #expect(players.quietNames.count == 1)
      players.forget()
      #expect(players.quietNames.isEmpty && files().isEmpty && music.status == "Paused")
    }
  }

  @Test(.timeLimit(.minutes(10)), arguments: [(59, "Playing"), (61, "Paused")])
  func whatAKilledProgramHasPausedPlaysOn(secondsAgo: Double, status: String) async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let music = try #require(ScriptedPlayer("music", "Paused", address: daemon.address))
    let radio = try #require(ScriptedPlayer("radio", "Stopped", address: daemon.address))
    try await withFolder { folder, files in
      let file = folder.appendingPathComponent("sidetone-paused-1")
      let names = ["music", "radio", "gone", "no name"].map { "org.mpris.MediaPlayer2.\($0)" }
      try names.joined(separator: "\n").write(to: file, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -secondsAgo)],
        ofItemAtPath: file.path
      )
      let players = MediaPlayers(address: daemon.address, folder: folder)
      #expect(players.quietNames.isEmpty)
      #expect(music.status == status && radio.status == "Stopped" && files().isEmpty)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func playersPlayOnWhenTheBusNoLongerHangs() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let music = try #require(ScriptedPlayer("music", "Playing", address: daemon.address))
    let players = MediaPlayers(address: daemon.address)
    players.pause()
    var told = music.told.makeAsyncIterator()
    #expect(await told.next() == "Pause")
    daemon.freeze()
    players.resume()
    #expect(players.quietNames == ["org.mpris.MediaPlayer2.music"])
    daemon.thaw()
    #expect(await told.next() == "Play")
    #expect(players.quietNames.isEmpty)
  }

  @Test func withoutABusNothingHappens() {
    let players = MediaPlayers(address: "unix:path=/nonexistent")
    players.pause()
    players.resume()
    #expect(players.quietNames.isEmpty)
  }
}
