import Foundation
import ProgramRig
import Testing

/// Every command in README and manual does what they say, exactly as written.
///
/// It runs on two hosts of a local network, one of which has the address in the README.
@Suite(.waiting, .serialized)
struct DocumentTests {
  /// The way in which a command ends.
  private enum Course {
    /// It ends by itself with this status, after `input`.
    case ends(Int32, input: String = "", seconds: Double = Patience.limit)
    /// It is ended by Ctrl-C once it has printed this text.
    case waits(for: String)
    /// It is a call: Bob answers, and this side hangs up.
    case call
  }

  /// Commands and the ways in which they end, in an order in which a reader could type them.
  ///
  /// Words in capitals stand for what the reader would put there.
  private static let courses: [(String, Course)] = [
    ("sidetone help simulate", .ends(0)),
    ("sidetone call --help", .ends(0)),
    ("sidetone devices", .ends(0)),
    ("sidetone config", .ends(0)),
    ("sidetone config listen", .ends(0)),
    ("sidetone identity", .ends(0)),
    ("sidetone identity --renew", .ends(0)),
    ("sidetone check", .ends(0)),
    ("sidetone people", .ends(0)),
    ("sidetone check sip:bob@192.168.1.20", .ends(0)),
    ("sidetone call bob", .call),
    ("sidetone call sip:bob@192.168.1.20", .call),
    ("sidetone peers", .ends(0)),
    ("sidetone peers name ADDRESS bob", .ends(0)),
    ("sidetone peers name ADDRESS NAME", .ends(0)),
    ("sidetone peers forget ADDRESS", .ends(0)),
    ("sidetone listen", .waits(for: "Listening at")),
    (
      "sidetone listen --answer --echo --security off --calls 500",
      .waits(for: "Listening at")
    ),
    ("sidetone account add alice@example.org", .ends(0, input: "secret\n")),
    (
      "sidetone account add alice@example.org --stun turn.example.org "
        + "--turn turns:turn.example.org",
      .ends(0, input: "secret\n")
    ),
    // There is no server here.
    ("sidetone account test", .ends(1)),
    ("sidetone account add service@example.org", .ends(0, input: "secret\n")),
    (
      "sidetone listen --answer --echo --account service@example.org",
      .waits(for: "Listening at")
    ),
    ("sidetone loopback --breakdown", .ends(0)),
    (
      "sidetone simulate --network wifi --seed 901 --duration 60 --encrypted",
      .ends(0, seconds: 240)
    ),
    (
      "sidetone simulate --network wifi-stalls --seed 7 --duration 600 --plot delay.svg "
        + "--wav received.wav",
      .ends(0, seconds: 240)
    ),
  ]

  /// Alice, at whose terminal the commands are typed, and Bob, who waits for calls as the README
  /// says.
  private final class Scene {
    let hosts: TwoHosts
    let services: [AvahiHost]
    let folder: URL
    let bob: TerminalWindow
    private let tmux: String

    init?() throws {
      let network = TwoHosts.Addressing(description: "README", network: "192.168.1.")
      guard let tmux = Bench.find("tmux") else {
        Bench.skip("tmux")
        return nil
      }
      guard let (hosts, services) = try AvahiHost.pair(network) else { return nil }
      self.tmux = tmux
      self.hosts = hosts
      self.services = services
      folder = try Bench.folder()
      try hosts.move(1, to: 20, in: network)
      for user in ["alice", "bob"] {
        let settings = folder.appendingPathComponent("\(user)/sidetone")
        try FileManager.default.createDirectory(at: settings, withIntermediateDirectories: true)
        try "headset = \"null\"\n".write(
          to: settings.appendingPathComponent("config.toml"),
          atomically: true,
          encoding: .utf8
        )
      }
      bob = try Self.window(
        tmux,
        hosts,
        1,
        Self.script("sidetone listen --name Bob", "bob", folder, services[1])
      )
      guard bob.shows("waits for calls") else {
        Issue.record("\(bob.text)")
        return nil
      }
    }

    /// Shell script that runs a command as it is written, with the settings of `user`.
    private static func script(
      _ command: String,
      _ user: String,
      _ folder: URL,
      _ services: AvahiHost
    ) throws -> String {
      let program = URL(fileURLWithPath: try #require(Bench.program)).deletingLastPathComponent()
      let variables = services.environment.merging(
        ["XDG_CONFIG_HOME": folder.appendingPathComponent(user).path]
      ) { $1 }
      let settings = variables.map { "export \($0)=\($1)" }.joined(separator: "; ")
      return "cd \(folder.path); \(settings); PATH=\(program.path):$PATH; \(command)"
    }

    private static func window(
      _ tmux: String,
      _ hosts: TwoHosts,
      _ host: Int,
      _ script: String
    ) throws -> TerminalWindow {
      let socket = try Bench.folder().appendingPathComponent("tmux").path
      let command = [hosts.ip, "netns", "exec", hosts.names[host], "/bin/sh", "-c", script]
      return try TerminalWindow(columns: 80, rows: 24, command) { arguments in
        let run = try ProgramRun(tmux, ["-S", socket] + arguments)
        #expect(run.waitForExit() == 0)
        return run.output
      }
    }

    /// Runs a command of Alice's without a terminal.
    func run(_ command: String) throws -> ProgramRun {
      let script = try Self.script("exec \(command)", "alice", folder, services[0])
      return try hosts.run("/bin/sh", on: 0, ["-c", script])
    }

    /// Runs a command of Alice's at a terminal.
    func type(_ command: String) throws -> TerminalWindow {
      let script = try Self.script(command, "alice", folder, services[0])
      return try Self.window(tmux, hosts, 0, script)
    }
  }

  @Test func everyCommandDoesWhatTheDocumentsSay() throws {
    guard let scene = try Scene() else { return }
    for (command, course) in Self.courses {
      let typed = command.replacing("ADDRESS", with: "bob@192.168.1.20")
        .replacing("NAME", with: "Bob")
      switch course {
      case .ends(let status, let input, let seconds):
        let run = try scene.run(typed)
        if !input.isEmpty { run.press(input) }
        #expect(run.waitForExit(seconds: seconds) == status, "\(command): \(run.output)")
      case .waits(let line):
        let run = try scene.run(typed)
        #expect(run.wait(for: line), "\(command): \(run.output)")
        run.signal(SIGINT)
        #expect(run.waitForExit() == 0, "\(command): \(run.output)")
      case .call:
        try call(typed, in: scene)
      }
    }
    for file in ["delay.svg", "received.wav"] {
      let path = scene.folder.appendingPathComponent(file).path
      #expect(FileManager.default.fileExists(atPath: path), "\(file)")
    }
  }

  private func call(_ command: String, in scene: Scene) throws {
    let alice = try scene.type(command)
    if command.hasSuffix(" bob") {
      #expect(alice.shows("Call this one?"), "\(alice.text)")
      try alice.press("y")
      try alice.press("Enter")
    }
    #expect(scene.bob.shows("is calling"), "\(command): \(scene.bob.text) \(alice.text)")
    try scene.bob.press("a")
    #expect(alice.shows("talking"), "\(command): \(alice.text)")
    try alice.press("h")
    #expect(alice.shows("exit status 0"), "\(command): \(alice.text)")
    #expect(scene.bob.shows("waits for calls"), "\(command): \(scene.bob.text)")
  }

  @Test func everyCommandOfTheDocumentsIsTried() throws {
    let tried = Set(Self.courses.map(\.0)).union(["sidetone listen --name Bob"])
    let all = try DocumentedCommand.all()
    #expect(all.count > 40)
    for command in all where !tried.contains(command.typed) {
      guard let names = command.form, let first = names.first else {
        Issue.record("\(command.place): \"\(command.typed)\" is tried nowhere")
        continue
      }
      for name in first == "recents" ? names : [names.joined(separator: " ")] {
        let run = try Bench.run(["help"] + name.split(separator: " ").map(String.init))
        #expect(run.waitForExit() == 0 && run.printed("USAGE"), "\(command.place): \(name)")
      }
    }
  }

  @Test func helpFitsAScreen() throws {
    let all = try Bench.run(["help"])
    #expect(all.waitForExit() == 0)
    let lines = all.output.split(separator: "\n")
    let commands = lines.drop { $0 != "SUBCOMMANDS:" }.dropFirst().filter { line in
      line.hasPrefix("  ") && !line.hasPrefix("   ") && !line.hasPrefix("  See")
    }
    .compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(commands.count > 15)
    for command in [[]] + commands.map({ [$0] }) + [["account", "add"]] {
      let run = try Bench.run(command + ["--help"])
      #expect(run.waitForExit() == 0)
      let text = run.output.trimmingCharacters(in: .newlines)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      // One is left for what is typed next.
      #expect(lines.count <= 23, "\(command): \(lines.count) lines")
      #expect(lines.allSatisfy { $0.count <= 80 }, "\(command)")
    }
    let long = try Bench.run(["help", "call"])
    #expect(long.waitForExit() == 0 && long.printed("--capture"))
    let short = try Bench.run(["call", "--help"])
    #expect(short.waitForExit() == 0 && short.printed("sidetone help call"))
    #expect(!short.printed("--capture"))
  }
}
