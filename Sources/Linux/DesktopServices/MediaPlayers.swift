package import Foundation

/// Pauses or lowers the desktop's media players while a call is active (MPRIS 2.2).
///
/// Players that are playing are paused, and those that are still paused afterwards are resumed;
/// lowered ones get their volume back if they still have the lower one. Changes that the user made
/// meanwhile stay. Without a bus no player is changed; quietened players go on once there is a bus,
/// or once a bus that hangs answers again. Players quietened by a program that was killed in a call
/// go on when the next program starts within a minute.
///
/// **Thread safety:** any thread; nothing waits for a player, since all is done on a queue of its
/// own.
// SAFETY: what changes is touched on `queue` only.
package final class MediaPlayers: @unchecked Sendable {
  private let queue = DispatchQueue(label: "avfaudio.players")
  private let desktop: LastingBus
  private var quiet: [QuietPlayer] = []
  /// True while paused and lowered players are to be restored, as soon as there is a bus.
  private var isOver = false
  /// True while a bus that hangs is to be asked again.
  private var isWaiting = false
  private let folder: URL?
  private var file: QuietPlayersFile?
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
  ///   - folder: the folder for the file that lists quiet players; nil for no file.
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
      let abandoned = QuietPlayersFile.takeAbandoned(in: folder)
      guard !abandoned.isEmpty else { return }
      (quiet, isOver) = (quiet + abandoned, true)
      note()
      playOn()
    }
  }

  deinit {
    fileTimer?.cancel()
  }

  /// Bus names of the players that are still quiet after all earlier requests; for tests.
  var quietNames: [String] { queue.sync { quiet.map(\.name) } }

  /// Pauses every player that is playing.
  package func pause() {
    quieten { name, _ in QuietPlayer(name: name) }
  }

  /// Lowers every player that is playing; those without a volume stay as they are.
  package func duck() {
    quieten { name, bus in
      Self.volume(of: name, on: bus).flatMap { volume in
        volume > 0 ? QuietPlayer(name: name, loweredFrom: volume) : nil
      }
    }
  }

  private func quieten(
    _ choose: @escaping @Sendable (String, BusConnection) -> QuietPlayer?
  ) {
    queue.async { [self] in
      isOver = false
      guard let bus = desktop.bus else { return }
      // One that was lowered plays on, and is not lowered twice.
      let lowered = Set(quiet.filter { $0.formerVolume != nil }.map(\.name))
      let chosen = bus.names.filter {
        $0.hasPrefix(Self.names) && Self.status(of: $0, on: bus) == "Playing"
      }
      .compactMap { choose($0, bus) }
      .filter { $0.formerVolume == nil || !lowered.contains($0.name) }
      quiet += chosen
      // Noted first: a program that is killed in between leaves nobody quiet for good.
      note()
      for player in chosen {
        if let volume = player.loweredVolume {
          Self.setVolume(of: player.name, to: volume, on: bus)
        } else {
          Self.tell(player.name, "Pause", on: bus)
        }
      }
    }
  }

  /// Resumes the players that were paused here, and restores the volume of lowered ones; without a
  /// bus, once there is one.
  package func resume() {
    queue.async { [self] in
      isOver = true
      playOn()
    }
  }

  /// Forgets the players that were paused here, and leaves them as they are; those that were
  /// lowered get their volume back.
  package func forget() {
    queue.async { [self] in
      quiet.removeAll { $0.formerVolume == nil }
      isOver = true
      note()
      playOn()
    }
  }

  private func playOn() {
    guard isOver, !quiet.isEmpty, let bus = desktop.bus else { return }
    guard !bus.names.isEmpty else {
      // It hangs. One that has gone is noticed when it is back.
      guard bus.isConnected, !isWaiting else { return }
      isWaiting = true
      return queue.asyncAfter(deadline: .now() + .seconds(Self.pause)) { [weak self] in
        self?.isWaiting = false
        self?.playOn()
      }
    }
    for player in quiet {
      if let volume = player.formerVolume {
        guard let now = Self.volume(of: player.name, on: bus), player.isLowered(at: now) else {
          continue
        }
        Self.setVolume(of: player.name, to: volume, on: bus)
      } else if Self.status(of: player.name, on: bus) == "Paused" {
        Self.tell(player.name, "Play", on: bus)
      }
    }
    // If the bus went meanwhile, they may not have got the call.
    if bus.isConnected { (quiet, isOver) = ([], false) }
    note()
  }

  // For the next program, as long as anything is quiet.
  private func note() {
    guard !quiet.isEmpty, let folder else {
      fileTimer?.cancel()
      fileTimer = nil
      file = nil
      return
    }
    if file == nil {
      file = QuietPlayersFile(in: folder)
      guard file != nil else { return }
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(
        deadline: .now() + .seconds(QuietPlayersFile.touchPeriod),
        repeating: .seconds(QuietPlayersFile.touchPeriod)
      )
      timer.setEventHandler { [weak self] in self?.file?.touch() }
      timer.resume()
      fileTimer = timer
    }
    file?.write(quiet)
  }

  private static func status(of name: String, on bus: BusConnection) -> String? {
    guard
      case .string(let status)? =
        bus.property("PlaybackStatus", of: player, at: path, on: name)
    else { return nil }
    return status
  }

  private static func volume(of name: String, on bus: BusConnection) -> Double? {
    guard case .double(let volume)? = bus.property("Volume", of: player, at: path, on: name),
      volume.isFinite
    else { return nil }
    return volume
  }

  private static func setVolume(of name: String, to volume: Double, on bus: BusConnection) {
    bus.setProperty("Volume", of: player, at: path, on: name, to: .double(volume))
  }

  private static func tell(_ name: String, _ member: String, on bus: BusConnection) {
    _ = bus.ask(name, path: path, interface: player, member, [])
  }
}
