package import Foundation

/// Pauses the desktop's media players while a call is active (MPRIS 2.2).
///
/// Players that are playing are paused, and those that are still paused afterwards are resumed:
/// what the user did with a player meanwhile counts. Without a bus nothing is paused; paused
/// players are resumed once there is one, or once a bus that hangs answers again. Players paused by
/// a program that was killed in a call are resumed when the next program starts within a minute.
///
/// **Thread safety:** any thread; nothing waits for a player, since all is done on a queue of its
/// own.
// SAFETY: what changes is touched on `queue` only.
package final class MediaPlayers: @unchecked Sendable {
  private let queue = DispatchQueue(label: "avfaudio.players")
  private let desktop: LastingBus
  private var paused: [String] = []
  /// True once paused players may be resumed; without a bus that waits for the next one.
  private var isOver = false
  /// True while a bus that hangs is to be asked again.
  private var isWaiting = false
  private let folder: URL?
  private var file: PausedPlayersFile?
  private var fileTimer: (any DispatchSourceTimer)?

  /// Time for which a bus that hangs is left alone before it is asked again, in seconds.
  private static let pause = 5

  /// Prefix of MPRIS bus names.
  static let names = "org.mpris.MediaPlayer2."
  private static let path = "/org/mpris/MediaPlayer2"
  private static let player = "org.mpris.MediaPlayer2.Player"

  /// The players on the bus at `address`, by default the user's; it is connected to when it is
  /// needed.
  ///
  /// - Parameters:
  ///   - address: the bus; nil for the user's.
  ///   - folder: the folder for the file that lists paused players; nil for no file.
  package init(address: String? = nil, folder: URL? = nil) {
    desktop = LastingBus(address: address)
    self.folder = folder
    // Players may find a restarted bus a moment later.
    desktop.whenBack(afterMilliseconds: LastingBus.settlingMilliseconds) { [weak self] _ in
      guard let self else { return }
      queue.async { [self] in playOn() }
    }
    guard let folder else { return }
    queue.async { [self] in
      let abandoned = PausedPlayersFile.takeAbandoned(in: folder)
      guard !abandoned.isEmpty else { return }
      (paused, isOver) = (paused + abandoned, true)
      note()
      playOn()
    }
  }

  deinit {
    fileTimer?.cancel()
  }

  /// Bus names of the players that were paused and not resumed, once all earlier requests are done;
  /// for tests.
  var pausedNames: [String] { queue.sync { paused } }

  /// Pauses every player that is playing.
  package func pause() {
    queue.async { [self] in
      isOver = false
      guard let bus = desktop.bus else { return }
      let playing = bus.names.filter {
        $0.hasPrefix(Self.names) && Self.status(of: $0, on: bus) == "Playing"
      }
      paused += playing
      // Noted first: a program that is killed in between leaves nobody paused for good.
      note()
      for name in playing { Self.tell(name, "Pause", on: bus) }
    }
  }

  /// Resumes the players that were paused here; without a bus, once there is one.
  package func resume() {
    queue.async { [self] in
      isOver = true
      playOn()
    }
  }

  /// Forgets the players that were paused here, and leaves them as they are.
  package func forget() {
    queue.async { [self] in
      (paused, isOver) = ([], false)
      note()
    }
  }

  private func playOn() {
    guard isOver, !paused.isEmpty, let bus = desktop.bus else { return }
    guard !bus.names.isEmpty else {
      // It hangs. One that has gone is noticed when it is back.
      guard bus.isConnected, !isWaiting else { return }
      isWaiting = true
      return queue.asyncAfter(deadline: .now() + .seconds(Self.pause)) { [weak self] in
        self?.isWaiting = false
        self?.playOn()
      }
    }
    for name in paused where Self.status(of: name, on: bus) == "Paused" {
      Self.tell(name, "Play", on: bus)
    }
    // If the bus went meanwhile, they may not have got the call.
    if bus.isConnected { (paused, isOver) = ([], false) }
    note()
  }

  // For the next program, as long as anything is paused.
  private func note() {
    guard !paused.isEmpty, let folder else {
      fileTimer?.cancel()
      fileTimer = nil
      file = nil
      return
    }
    if file == nil {
      file = PausedPlayersFile(in: folder)
      guard file != nil else { return }
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(
        deadline: .now() + .seconds(PausedPlayersFile.touchPeriod),
        repeating: .seconds(PausedPlayersFile.touchPeriod)
      )
      timer.setEventHandler { [weak self] in self?.file?.touch() }
      timer.resume()
      fileTimer = timer
    }
    file?.write(paused)
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
