import Foundation

/// What the user has set once and for all: in `config.toml`, and over that in the environment.
///
/// A value: reading file and environment is for its users.
struct Settings: Equatable {
  /// Why the settings cannot be used.
  struct Mistake: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  /// By command, "" for those that hold for all, and by name.
  private var chosen: [String: [String: Setting]] = [:]

  /// The file's values, in tables for single commands, "" for those that hold for all.
  ///
  /// - Throws: a `Mistake` that names what is wrong, and the nearest name.
  init(
    file: [String: [String: String]],
    among catalogue: SettingCatalogue
  ) throws(Mistake) {
    for (table, values) in file {
      try Self.check(table: table)
      for (name, value) in values {
        let known = table.isEmpty ? catalogue.all : catalogue.options(of: table)
        let option = try Self.option(name, among: known, in: table)
        try Self.check(value, of: option)
        let origin = Setting.Origin.file(table: table.isEmpty ? nil : table)
        chosen[table, default: [:]][name] = Setting(value: value, origin: origin)
      }
    }
  }

  /// Lets the environment's values hold, for all commands, in place of the file's.
  ///
  /// - Throws: a `Mistake` that names the variable.
  mutating func yield(
    to environment: [String: String],
    among catalogue: SettingCatalogue
  ) throws(Mistake) {
    for option in catalogue.all {
      let name = Self.variable(for: option.name)
      guard let value = environment[name] else { continue }
      do throws(Mistake) {
        try Self.check(value, of: option)
      } catch {
        throw Mistake(description: "\(name): \(error)")
      }
      for table in chosen.keys { chosen[table]?[option.name] = nil }
      chosen["", default: [:]][option.name] = Setting(value: value, origin: .variable(name))
    }
  }

  /// The environment's name for an option.
  static func variable(for option: String) -> String {
    "SIDETONE_" + option.uppercased().replacing("-", with: "_")
  }

  private static func check(table: String) throws(Mistake) {
    guard !table.isEmpty, !SettingCatalogue.commands.contains(table) else { return }
    throw Mistake(
      description: "there are no settings for \"\(table)\"; "
        + meant(table, among: SettingCatalogue.commands)
    )
  }

  private static func option(
    _ name: String,
    among options: [SettingCatalogue.Option],
    in table: String
  ) throws(Mistake) -> SettingCatalogue.Option {
    if let found = options.first(where: { $0.name == name }) { return found }
    let place = table.isEmpty ? "" : " for \(table)"
    throw Mistake(
      description: "there is no setting \"\(name)\"\(place); "
        + meant(name, among: options.map(\.name))
    )
  }

  private static func meant(_ name: String, among names: [String]) -> String {
    NearestName.of(name, among: names).map { "did you mean \"\($0)\"?" }
      ?? "sidetone config lists them"
  }

  private static func check(
    _ value: String,
    of option: SettingCatalogue.Option
  ) throws(Mistake) {
    guard option.isFlag, !["true", "false"].contains(value) else { return }
    throw Mistake(description: "\"\(option.name)\" is true or false, not \"\(value)\"")
  }

  /// What holds for a command; nil if it is left to the command.
  func setting(_ name: String, for command: String) -> Setting? {
    chosen[command]?[name] ?? chosen[""]?[name]
  }

  /// The arguments of a run, completed by what holds for its command and was not typed.
  func completed(_ typed: [String], among catalogue: SettingCatalogue) -> [String] {
    guard let command = typed.first, SettingCatalogue.commands.contains(command) else {
      return typed
    }
    var added: [String] = []
    for option in catalogue.options(of: command) {
      guard let setting = setting(option.name, for: command),
        !typed.contains(where: { Self.names($0, option.name) })
      else { continue }
      guard option.isFlag else {
        added += ["--\(option.name)", setting.value]
        continue
      }
      if setting.value == "true" {
        added.append("--\(option.name)")
      } else if option.isInvertible {
        added.append("--no-\(option.name)")
      }
    }
    return [command] + added + typed.dropFirst()
  }

  /// Options of which one typed takes the place of all that are set.
  private static let devices: Set = ["headset", "capture", "playback"]

  private static func names(_ argument: String, _ option: String) -> Bool {
    let name = argument.prefix { $0 != "=" }
    let options = devices.contains(option) ? devices : [option]
    return options.contains { name == "--\($0)" || name == "--no-\($0)" }
  }
}
