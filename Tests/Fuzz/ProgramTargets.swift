import AudioRouting
import Foundation
@testable import CommandLine

private let catalogue = try? SettingCatalogue.ofProgram()

/// The user's `config.toml`.
func fuzzSettings(_ bytes: [UInt8]) {
  guard let catalogue,
    let values = try? ConfigurationFile.values(of: String(decoding: bytes, as: UTF8.self)),
    let settings = try? Settings(file: values, among: catalogue)
  else { return }
  for command in SettingCatalogue.commands {
    _ = settings.arguments(beside: [command], among: catalogue)
  }
}

/// Links that the desktop passes on, the keys of a terminal, and the card that was chosen last.
func fuzzTyped(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  _ = try? CallLink(text).address(gateway: "gateway.example")
  _ = Terminal.plain(text)
  var decoder = KeyDecoder()
  // As they may come: some at once, and the rest later.
  _ = decoder.keys(in: bytes.prefix(bytes.count / 2))
  _ = decoder.keys(in: bytes.dropFirst(bytes.count / 2))
  _ = try? JSONDecoder().decode(KnownDevice.self, from: Data(bytes)).name(among: [])
}
