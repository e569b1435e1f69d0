import ArgumentParser
import Foundation
import Localization

struct ConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show each setting, and where its value comes from.",
    discussion: """
      Settings are options that hold each time: in config.toml, under their names without hyphens \
      at the start, for all commands or in a table like [listen] for one; over that in variables \
      like SIDETONE_FRAME; over that in what is typed.
      """
  )

  @Argument(help: "The command that the values are for.")
  var command = "call"

  @Flag(help: "Print as JSON, one per line.")
  var json = false

  func validate() throws {
    guard SettingCatalogue.commands.contains(command) else {
      let names = SettingCatalogue.commands.joined(separator: ", ")
      throw ValidationError(localized: "settings hold for \(names)")
    }
  }

  func run() throws {
    let catalogue = try SettingCatalogue.ofProgram()
    let settings = try Settings.ofUser(among: catalogue)
    if !json {
      print(String(localized: "# \(ConfigurationFile.url.path), for \(command)"))
    }
    for option in catalogue.options(of: command) {
      let setting = settings.setting(option.name, for: command)
      print(json ? Self.json(option, setting) : Self.line(option, setting))
    }
  }

  private static func line(_ option: SettingCatalogue.Option, _ setting: Setting?) -> String {
    let name = option.name.padding(toLength: 20, withPad: " ", startingAt: 0)
    guard let setting else {
      return "\(name)  \((option.preset ?? "-").padding(toLength: 20, withPad: " ", startingAt: 0))"
        + "  " + String(localized: "default")
    }
    let value = setting.value.padding(
      toLength: max(20, setting.value.count),
      withPad: " ",
      startingAt: 0
    )
    return Terminal.plain("\(name)  \(value)  \(setting.origin.description)")
  }

  private static func json(_ option: SettingCatalogue.Option, _ setting: Setting?) -> String {
    let fields: [String: JSONValue] = [
      "name": .text(option.name), "value": .text(setting?.value ?? option.preset),
      "origin": .text(setting?.origin.description ?? "default"),
    ]
    return JSONValue.object(fields).line ?? ""
  }
}

extension SettingCatalogue {
  /// Returns the settings that this program's commands take.
  static func ofProgram() throws -> SettingCatalogue {
    let text = Data(SidetoneCommand._dumpHelp().utf8)
    return SettingCatalogue(try JSONDecoder().decode(ToolDescription.self, from: text))
  }
}

extension Settings {
  /// Reads the user's settings from file and environment.
  ///
  /// - Throws: a `CommandFailure` that says what is wrong with them, and where.
  static func ofUser(among catalogue: SettingCatalogue) throws -> Settings {
    let file = try ConfigurationFile.read()
    var settings: Settings
    do throws(Mistake) {
      settings = try Settings(file: file, among: catalogue)
    } catch {
      throw CommandFailure("\(ConfigurationFile.url.path): \(error)")
    }
    do throws(Mistake) {
      try settings.yield(to: ProcessInfo.processInfo.environment, among: catalogue)
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
    return settings
  }
}
