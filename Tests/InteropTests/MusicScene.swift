import BusFixture
import Foundation
import Testing

/// Bob's desktop, on which music plays, and a port at which his phone can be called.
///
/// **Life cycle:** made by the initialiser; the bus ends and the folder is removed by `deinit`.
final class MusicScene {
  /// The environment of the programs that call him: the bus is his alone.
  static let callersEnvironment = ["DBUS_SESSION_BUS_ADDRESS": ""]

  let bus: BusDaemon
  let music: ScriptedPlayer
  let folder: URL
  let port = Bench.port()

  /// The environment of his phone: the bus, and the folder for its data and its sockets.
  var environment: [String: String] {
    [
      "XDG_DATA_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
      "DBUS_SESSION_BUS_ADDRESS": bus.address,
    ]
  }

  /// Makes the desktop; nil without a bus, as the output then says.
  init?() throws {
    guard let bus = try BusDaemon() else { return nil }
    self.bus = bus
    music = try #require(ScriptedPlayer("music", "Playing", address: bus.address))
    folder = try Bench.folder()
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Starts a call to his phone.
  func call(_ options: String...) throws -> ProgramRun {
    try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--json"] + options,
      environment: Self.callersEnvironment
    )
  }
}
