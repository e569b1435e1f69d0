import CDBus

/// A media player that a program has paused or lowered.
struct QuietPlayer: Equatable, Sendable {
  /// Bus name of the player.
  let name: String
  /// Volume of the player before it was lowered; nil for one that was paused.
  var formerVolume: Double?

  /// Factor by which players are lowered: 12 dB.
  private static let share = 0.25

  /// A player that was paused, or lowered from a volume.
  init(name: String, loweredFrom volume: Double? = nil) {
    (self.name, formerVolume) = (name, volume)
  }

  /// Reads a player from its line; nil if it is none.
  init?(line: Substring) {
    let fields = line.split(separator: " ", maxSplits: 1)
    // libdbus ends a program that calls what is no name.
    guard let name = fields.first.map({ String($0) }), name.hasPrefix(MediaPlayers.names),
      unsafe dbus_validate_bus_name(name, nil) != 0
    else { return nil }
    self.name = name
    guard fields.count > 1 else { return }
    guard let volume = Double(fields[1]), volume.isFinite, volume > 0 else { return nil }
    formerVolume = volume
  }

  /// The player as a line of the file.
  var line: String { formerVolume.map { "\(name) \($0)" } ?? name }

  /// The volume that the player was lowered to; nil for one that was paused.
  var loweredVolume: Double? { formerVolume.map { $0 * Self.share } }

  /// True if `volume` is the one that the player was lowered to: players keep steps of a percent.
  func isLowered(at volume: Double) -> Bool {
    loweredVolume.map { abs(volume - $0) < min(0.01, $0 / 2) } ?? false
  }
}
