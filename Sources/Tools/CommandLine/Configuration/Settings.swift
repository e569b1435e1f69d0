import Foundation
import Localization

/// Permanent settings of the user, from `config.toml` and, overriding it, from the environment.
///
/// A value without I/O: its users read the file and the environment.
struct Settings: Equatable {
  /// Reason why the settings cannot be used.
  struct Mistake: Error, Equatable, CustomStringConvertible {
    let description: String

    /// Creates a mistake from a text, which is put into the user's language.
    init(localized text: LocalizationValue) { description = String(localized: text) }
  }

  /// Settings by command, "" for those that apply to all, and by name.
  private var chosen: [String: [String: Setting]] = [:]

  /// Creates settings from the file's values, by table and name.
  ///
  /// A table is for a single command; "" has the values that apply to all.
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

  /// Overrides the file's values by those of the environment, which apply to all commands.
  ///
  /// - Throws: a `Mistake` that names the variable.
  mutating func yield(
    to environment: [String: String],
    among catalogue: SettingCatalogue
  ) throws(Mistake) {
    for option in catalogue.all {
      let name = Self.variable(for: option.name)
      guard let value = environment[name], !value.isEmpty else { continue }
      do throws(Mistake) {
        try Self.check(value, of: option)
      } catch {
        throw Mistake(localized: "\(name): \(error)")
      }
      for table in chosen.keys {
        for displaced in Self.displaced(by: option.name, set: value) {
          chosen[table]?[displaced] = nil
        }
      }
      chosen["", default: [:]][option.name] = Setting(value: value, origin: .variable(name))
    }
  }

  /// Returns the name of the environment variable for an option.
  static func variable(for option: String) -> String {
    "SIDETONE_" + option.uppercased().replacing("-", with: "_")
  }

  private static func check(table: String) throws(Mistake) {
    guard !table.isEmpty, !SettingCatalogue.commands.contains(table) else { return }
    throw Mistake(
      localized: """
        there are no settings for "\(table)"; \(meant(table, among: SettingCatalogue.commands))
        """
    )
  }

  private static func option(
    _ name: String,
    among options: [SettingCatalogue.Option],
    in table: String
  ) throws(Mistake) -> SettingCatalogue.Option {
    if let found = options.first(where: { $0.name == name }) { return found }
    let advice = meant(name, among: options.map(\.name))
    throw table.isEmpty
      ? Mistake(localized: "there is no setting \"\(name)\"; \(advice)")
      : Mistake(localized: "there is no setting \"\(name)\" for \(table); \(advice)")
  }

  private static func meant(_ name: String, among names: [String]) -> LocalizationValue {
    NearestName.of(name, among: names).map { .init(localized: "did you mean \"\($0)\"?") }
      ?? .init(localized: "sidetone config lists them")
  }

  private static func check(
    _ value: String,
    of option: SettingCatalogue.Option
  ) throws(Mistake) {
    guard option.isFlag, !["true", "false"].contains(value) else { return }
    throw Mistake(localized: "\"\(option.name)\" is true or false, not \"\(value)\"")
  }

  /// Returns the setting of an option for a command; nil if the command's own default applies.
  func setting(_ name: String, for command: String) -> Setting? {
    let own = chosen[command] ?? [:]
    if let setting = own[name] { return setting }
    let isDisplaced = own.contains { option, setting in
      Self.displaced(by: option, set: setting.value).contains(name)
    }
    return isDisplaced ? nil : chosen[""]?[name]
  }

  /// Returns the settings for the typed command as arguments, without those that were typed.
  func arguments(beside typed: [String], among catalogue: SettingCatalogue) -> [String] {
    guard let command = typed.first, SettingCatalogue.commands.contains(command) else { return [] }
    let named = Set(typed.flatMap { Self.named(by: $0) })
    return catalogue.options(of: command).compactMap { option in
      guard let setting = setting(option.name, for: command), !named.contains(option.name) else {
        return nil
      }
      // With the sign between them: a value may begin with a hyphen.
      guard option.isFlag else { return "--\(option.name)=\(setting.value)" }
      if setting.value == "true" { return "--\(option.name)" }
      return option.isInvertible ? "--no-\(option.name)" : nil
    }
  }

  /// Options that choose how a call is shown.
  private static let displays = ["screen", "plain", "screen-reader"]

  /// Returns the options that this one overrides: a headset is both sides, and a call is shown in
  /// one way.
  private static func displaced(by option: String, set value: String = "true") -> [String] {
    if option == "headset" { return ["headset", "capture", "playback"] }
    return displays.contains(option) && value != "false" ? displays : [option]
  }

  private static func named(by argument: String) -> [String] {
    guard argument.hasPrefix("--") else { return [] }
    let name = String(argument.dropFirst(2).prefix { $0 != "=" })
    return displaced(by: name) + (name.hasPrefix("no-") ? [String(name.dropFirst(3))] : [])
  }
}
