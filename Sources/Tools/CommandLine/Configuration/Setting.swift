/// A value that the user has set permanently, with its origin.
struct Setting: Equatable {
  /// Origin of a value; an environment variable overrides the file.
  enum Origin: Equatable {
    /// The file `config.toml` and the table in it; nil outside of tables.
    case file(table: String?)
    /// An environment variable, by its name.
    case variable(String)

    var description: String {
      switch self {
      case .file(nil): "config.toml"
      case .file(let table?): "config.toml, [\(table)]"
      case .variable(let name): name
      }
    }
  }

  /// Value in the form in which it is given to the option.
  let value: String
  let origin: Origin
}

/// Options that may be set permanently: those that `call` and `listen` share, and a few of one
/// command's own.
struct SettingCatalogue {
  /// An option that may be set permanently.
  struct Option: Equatable {
    /// Name without the leading hyphens.
    let name: String
    let isFlag: Bool
    /// True if the flag can be negated by `--no-NAME`.
    let isInvertible: Bool
    /// Default value; nil if only the help text gives it.
    let preset: String?
  }

  /// Commands to which settings apply.
  static let commands = ["call", "listen", "open", "check"]
  /// Options that may be set in the table of one command only, as no value suits all commands at
  /// once.
  private static let particular: Set = ["calls", "listen", "rtp-port"]
  /// Options that only one command has, which may be set in its table.
  private static let own = ["listen": ["hidden"]]
  /// Options that a user wants for a single run, not each time, and so cannot set permanently.
  private static let occasional: Set = ["json", "keys", "duration", "report", "help", "version"]

  private let options: [String: [Option]]

  /// Creates a catalogue from a program's description of itself.
  init(_ program: ToolDescription) {
    let commands = program.command.subcommands ?? []
    options = Dictionary(
      commands.map { ($0.commandName, Self.options(of: $0)) }
    ) { first, _ in first }
  }

  private static func options(of command: ToolDescription.Command) -> [Option] {
    let arguments = command.arguments ?? []
    let names = Set(arguments.compactMap { $0.preferredName?.name })
    return arguments.compactMap { argument in
      guard let name = argument.preferredName, name.kind == "long",
        !occasional.contains(name.name), argument.kind != "positional",
        // That is how the flag that it takes back is set to false.
        !(name.name.hasPrefix("no-") && names.contains(String(name.name.dropFirst(3))))
      else { return nil }
      let isFlag = argument.kind == "flag"
      return Option(
        name: name.name,
        isFlag: isFlag,
        isInvertible: isFlag && names.contains("no-\(name.name)"),
        preset: argument.defaultValue.map { isFlag ? "\(!$0.hasPrefix("--no-"))" : $0 }
          ?? (isFlag ? "false" : nil)
      )
    }
  }

  /// Returns the options that may be set for a command.
  func options(of command: String) -> [Option] {
    let names = Set(common.map(\.name) + (Self.own[command] ?? []))
    return (options[command] ?? []).filter { names.contains($0.name) }
  }

  /// Options that may be set for all commands at once, in the order of the help.
  var all: [Option] { common.filter { !Self.particular.contains($0.name) } }

  private var common: [Option] {
    let listening = Set((options["listen"] ?? []).map(\.name))
    return (options["call"] ?? []).filter { listening.contains($0.name) }
  }
}

/// Description of a program by swift-argument-parser, reduced to what is used here.
struct ToolDescription: Decodable {
  struct Command: Decodable {
    let commandName: String
    let arguments: [Argument]?
    let subcommands: [Command]?
  }

  struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }

    let kind: String
    let preferredName: Name?
    let defaultValue: String?
  }

  let command: Command
}
