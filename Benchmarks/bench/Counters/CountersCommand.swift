import ProgramRig
import ArgumentParser
import Foundation
import Rig

/// Instructions of each piece of the voice path for twenty milliseconds of audio, counted by
/// valgrind.
///
/// They are the same on a busy machine as on an idle one, so a rise in cost is always seen.
struct CountersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "counters",
    abstract: "Instructions per 20 ms of audio, against the thresholds in the tree."
  )

  @Option(
    name: .customLong("run"),
    help: ArgumentHelp("Only this piece, uncounted; valgrind calls it so.", valueName: "name")
  )
  var piece: String?

  @Option(help: ArgumentHelp("With --run: how many times 20 ms.", valueName: "n"))
  var turns = 100

  @Option(help: ArgumentHelp("Limits that must not be exceeded, as JSON.", valueName: "path"))
  var thresholds = "Benchmarks/Thresholds/instructions.json"

  @Flag(help: "Write the thresholds instead: what is counted now and a tenth more.")
  var update = false

  @Option(help: ArgumentHelp("Where the results go.", valueName: "folder"))
  var output = ResultFile.folder

  func validate() throws {
    guard (1...1_000_000).contains(turns) else {
      throw ValidationError("--turns is between 1 and 1000000")
    }
  }

  func run() throws {
    if let name = piece {
      guard let module = Modules.all.first(where: { $0.name == name }) else {
        throw ValidationError("no piece is called \(name)")
      }
      return try module.run(turns)
    }
    let work = try WorkFolder()
    defer { work.remove() }
    // Debian 12's valgrind does not read the debug information of Swift 6.
    let stripped = work.url.appendingPathComponent("bench").path
    try ProgramRig.run("strip", ["--strip-debug", "-o", stripped, CommandLine.arguments[0]])
    var counted: [String: Int] = [:]
    for module in Modules.all {
      // Without what starting the program takes.
      let few = try instructions(of: module.name, turns: 50, by: stripped, in: work.url)
      let many = try instructions(of: module.name, turns: 150, by: stripped, in: work.url)
      counted[module.name] = (many - few) / 100
    }
    // What is ours: another libopus moves both, and not this.
    counted[Self.ours] = (counted["VoiceStream.call"] ?? 0) - (counted[Self.yardstick] ?? 0)
    try report(counted)
  }

  private func instructions(
    of name: String,
    turns: Int,
    by program: String,
    in folder: URL
  ) throws -> Int {
    let log = folder.appendingPathComponent("callgrind.log")
    let invocation = Invocation(
      "valgrind",
      [
        "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "counters",
        "--run", name, "--turns", "\(turns)",
      ]
    )
    let program = try RunningProgram(invocation, environment: [:], log: log)
    guard program.waitForExit() == 0,
      let line = program.output.split(separator: "\n").last(where: { $0.contains("Collected :") }),
      let count = line.split(separator: " ").last.flatMap({ Int($0) })
    else { throw RigError("valgrind counted nothing of \(name): \(program.output.suffix(500))") }
    return count
  }

  private func report(_ counted: [String: Int]) throws {
    let file = URL(fileURLWithPath: thresholds)
    if update {
      var limits = counted.filter { !Self.withLibraries.contains($0.key) }
        .mapValues { $0 * 11 / 10 }
      // A difference of two large numbers, of which another processor's libopus has others.
      limits[Self.ours] = (counted[Self.ours] ?? 0) * 14 / 10
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(limits).write(to: file)
    }
    let limits = try JSONDecoder().decode([String: Int].self, from: Data(contentsOf: file))
    var exceeded: [String] = []
    for name in Modules.all.map(\.name) + [Self.ours] {
      let count = counted[name] ?? 0
      let limit = limits[name]
      let isOver = count > limit ?? .max
      if isOver { exceeded.append(name) }
      print(
        name.padding(toLength: 20, withPad: " ", startingAt: 0)
          + String(format: "%9d instructions per 20 ms", count)
          + (limit.map { ", at most \($0)" } ?? "") + (isOver ? ": TOO MANY" : "")
      )
    }
    if let beyond = counted[Self.ours], let raw = counted[Self.yardstick], raw > 0 {
      print(String(format: "a stream beyond libopus: %.1f %%", 100 * Double(beyond) / Double(raw)))
    }
    if let pull = counted["Playout.pull"], let resample = counted["Playout.resample"],
      let decode = counted["libopus.decode"], decode > 0
    {
      let share = 100 * Double(pull + resample) / Double(decode)
      print(String(format: "playout beside libopus's decoder: %.1f %%", share))
    }
    if let timed = counted["VoiceLoop.timed"], let plain = counted["VoiceLoop.call"], plain > 0 {
      let more = 100 * Double(timed - plain) / Double(plain)
      print(String(format: "timing the stages, without reading the clock: %.2f %% more", more))
    }
    if let encrypted = counted["VoiceLoop.encrypted"], let plain = counted["VoiceLoop.call"],
      plain > 0
    {
      let more = 100 * Double(encrypted - plain) / Double(plain)
      let isOver = more > Self.mostForEncryption
      if isOver { exceeded.append("VoiceLoop.encrypted") }
      print(
        String(format: "encryption: %.2f %% more, at most %.0f %%", more, Self.mostForEncryption)
          + (isOver ? ": TOO MANY" : "")
      )
    }
    try ResultFile.write(counted, named: "instructions", to: URL(fileURLWithPath: output))
    guard exceeded.isEmpty else {
      throw RigError("more instructions than allowed: \(exceeded.joined(separator: ", "))")
    }
  }

  /// Counts made up mostly by libopus, for which no threshold is written.
  private static let withLibraries = [
    yardstick, "libopus.decode", "VoiceStream.call", "VoiceLoop.call", "VoiceLoop.timed",
    "VoiceLoop.encrypted",
  ]
  /// Most instructions that encryption may add to those of a call, in percent.
  private static let mostForEncryption = 3.0
  /// Count of libopus alone, which may be of any version.
  private static let yardstick = "libopus.call"
  private static let ours = "VoiceStream.beyond"
}
