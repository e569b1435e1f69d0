import ArgumentParser
import Foundation
import Rig

/// Calls on a real kernel's sound cards, to which things happen.
struct FaultsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "faults",
    abstract: "Lets sound cards fail in calls on a real kernel, and tells what was heard of it."
  )

  @Option(
    help: ArgumentHelp("Only scenarios with these words in their names.", valueName: "words")
  )
  var only: String?

  @Option(help: ArgumentHelp("How long cards drift apart, 0.5 to 10.", valueName: "minutes"))
  var drift = 0.5

  @Option(help: ArgumentHelp("The program sidetone.", valueName: "path"))
  var sidetone = ".build/release/sidetone"

  @Option(help: ArgumentHelp("Where the machine is made and kept.", valueName: "folder"))
  var machine = ".build/machine"

  @Option(help: ArgumentHelp("Where results, recordings and logs go.", valueName: "folder"))
  var output = ".build/faults"

  func validate() throws {
    guard (0.5...10).contains(drift) else {
      throw ValidationError("--drift is between 0.5 and 10")
    }
  }

  func run() throws {
    if let missing = KernelMachine.missing {
      print("skipped: calls on a real kernel need the packages \(missing)")
      return
    }
    let all = Scenario.all(driftSeconds: Int(drift * 60))
    let names = all.map(\.name) + [WiredPair.name]
    let scenarios = all.filter { isWanted($0.name, among: names) }
    let isWired = isWanted(WiredPair.name, among: names)
    guard isWired || !scenarios.isEmpty else {
      throw ValidationError("no scenario is called like that")
    }
    let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../kernel").standardized
    let own = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let share = URL(fileURLWithPath: output)
    try? FileManager.default.removeItem(at: share)
    try FileManager.default.createDirectory(at: share, withIntermediateDirectories: true)
    let kernel = try KernelMachine(
      in: URL(fileURLWithPath: machine),
      programs: [URL(fileURLWithPath: sidetone), own.appendingPathComponent("fault-probe")],
      initialisation: scripts.appendingPathComponent("init")
    )
    let functions = try String(
      contentsOf: scripts.appendingPathComponent("guest.sh"),
      encoding: .utf8
    )
    var outcomes: [Outcome] = []
    if isWired { outcomes += try WiredPair.run(kernel, functions: functions, in: share) }
    if !scenarios.isEmpty {
      outcomes += try run(scenarios, on: kernel, functions: functions, in: share)
    }
    try ResultFile.write(outcomes, named: "faults", to: share)
    print(table(outcomes))
    let isBroken = outcomes.contains { !$0.complaints.isEmpty || !$0.delays.isEmpty }
    if isBroken { throw ExitCode.failure }
  }

  // A word that is a name means that one, and not those in which it is a part.
  private func isWanted(_ name: String, among names: [String]) -> Bool {
    guard let only else { return true }
    return only.split(separator: ",").map(String.init).contains { word in
      names.contains(word) ? name == word : name.contains(word)
    }
  }

  private func run(
    _ scenarios: [Scenario],
    on kernel: KernelMachine,
    functions: String,
    in share: URL
  ) throws -> [Outcome] {
    let script = functions + "cards\n" + scenarios.map(\.invocation).joined(separator: "\n") + "\n"
    try Data(script.utf8).write(to: share.appendingPathComponent("guest.sh"))
    // The machine's own seconds take as long as this one needs for a thousand million instructions.
    let seconds = scenarios.reduce(120) { $0 + 3 * Double($1.seconds) + 30 }
    try kernel.boot(sharing: share, seconds: seconds)

    return try scenarios.map { scenario in
      try Outcome(of: scenario, in: share.appendingPathComponent("out/\(scenario.name)"))
    }
  }

  private func delay(_ milliseconds: Double) -> String {
    milliseconds == 0 ? "–" : String(format: "%.1f", milliseconds)
  }

  private func table(_ outcomes: [Outcome]) -> String {
    let head =
      "| Scenario | Gap, ms | Recovered | Delay before, ms | after, ms "
      + "| Invented, ms | Removed | Added | Faults | Routes | |"
    let rows = outcomes.map { outcome in
      let figures = String(
        format: "%.0f | %@ | %@ | %@ | %.0f | %.0f | %.0f | %d | %d",
        outcome.gap,
        outcome.isRecovered ? "yes" : "no",
        delay(outcome.before),
        delay(outcome.after),
        outcome.invented,
        outcome.removed,
        outcome.added,
        outcome.deviceFaults,
        outcome.routeChanges
      )
      let words = outcome.complaints.map { "broken: \($0)" } + outcome.delays
      let verdict = words.isEmpty ? "ok" : words.joined(separator: ", ")
      return "| \(outcome.name) | \(figures) | \(verdict) |"
    }
    return ([head, "|---|---|---|---|---|---|---|---|---|---|---|"] + rows).joined(separator: "\n")
  }
}
