/// A value that the user has chosen once and for all, and where.
struct Setting: Equatable {
  /// Where a value comes from; later ones win.
  enum Origin: Equatable {
    /// The file, with the table in it; nil outside of tables.
    case file(table: String?)
    /// A variable of the environment, by its name.
    case variable(String)

    var description: String {
      switch self {
      case .file(nil): "config.toml"
      case .file(let table?): "config.toml, [\(table)]"
      case .variable(let name): name
      }
    }
  }

  /// As an option would have it.
  let value: String
  let origin: Origin
}

/// The options that may be set once and for all: what `call` and `listen` have in common.
struct SettingCatalogue {
  /// An option.
  struct Option: Equatable {
    /// Without its hyphens.
    let name: String
    let isFlag: Bool
    /// Whether `--no-NAME` takes it back.
    let isInvertible: Bool
    /// The default; nil if its help says that.
    let preset: String?
  }

  /// The commands that settings hold for.
  static let commands = ["call", "listen", "open", "check"]
  /// What would be wrong for all commands at once, and may be set for one in its table.
  private static let particular: Set = ["calls", "listen", "rtp-port"]
  /// What one command alone has, and may be set in its table.
  private static let own = ["listen": ["hidden"]]
  /// What a single run is asked for, not what a user wants each time.
  private static let occasional: Set = ["json", "keys", "duration", "report", "help", "version"]

  private let options: [String: [Option]]

  /// The options of a program that describes itself as `ToolDescription` does.
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

  /// What a command takes.
  func options(of command: String) -> [Option] {
    let names = Set(common.map(\.name) + (Self.own[command] ?? []))
    return (options[command] ?? []).filter { names.contains($0.name) }
  }

  /// What may be set for all commands, in the order of the help.
  var all: [Option] { common.filter { !Self.particular.contains($0.name) } }

  private var common: [Option] {
    let listening = Set((options["listen"] ?? []).map(\.name))
    return (options["call"] ?? []).filter { listening.contains($0.name) }
  }
}

/// How swift-argument-parser describes a program, as far as it is of use here.
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
