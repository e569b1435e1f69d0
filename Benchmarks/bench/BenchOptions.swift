import ArgumentParser
import Foundation
import Rig
import Simulation

/// Options that the commands have in common; each command has its own defaults.
struct BenchOptions: ParsableArguments {
  @Option(help: ArgumentHelp("How long each measurement takes, 1 to 3600.", valueName: "seconds"))
  var seconds: Int?

  @Option(help: ArgumentHelp("Measurements of each kind, 1 to 200.", valueName: "n"))
  var repeats: Int?

  @Option(help: "Networks, separated by commas; direct is the loopback interface.")
  var networks: String?

  @Option(
    help: ArgumentHelp("Only what has one of these words in its name.", valueName: "words")
  )
  var only: String?

  @Option(help: ArgumentHelp(ResultFile.help, valueName: "folder"))
  var output: String?

  @Option(help: ArgumentHelp("Leave logs, recordings and scored clips there.", valueName: "folder"))
  var keep: String?

  @Option(help: ArgumentHelp("The program sidetone.", valueName: "path"))
  var sidetone = ".build/release/sidetone"

  @Option(help: ArgumentHelp("Python with the packages pesq and pystoi.", valueName: "path"))
  var python = "Benchmarks/.venv/bin/python"

  func validate() throws {
    guard (1...3_600).contains(seconds ?? 1) else {
      throw ValidationError("--seconds is between 1 and 3600")
    }
    guard (1...200).contains(repeats ?? 1) else {
      throw ValidationError("--repeats is between 1 and 200")
    }
    _ = try conditions(or: "direct")
  }

  /// Returns the networks of `--networks`, or else those of `names`; nil is the loopback interface.
  func conditions(or names: String) throws -> [NetworkConditions?] {
    try (networks ?? names).split(separator: ",").map { name in
      if name == "direct" { return nil }
      guard let found = NetworkConditions.all.first(where: { $0.name == name }) else {
        let known = NetworkConditions.all.map(\.name).joined(separator: ", ")
        throw ValidationError("no network is called \(name); there are direct, \(known)")
      }
      return found
    }
  }

  /// True if `--only` is absent, or if one of its words occurs in `name`.
  func wants(_ name: String) -> Bool {
    only?.split(separator: ",").contains { name.contains($0) } ?? true
  }

  /// Returns the folder for the results; nil if none was named and not everything was measured.
  func results(isWhole: Bool = true) -> URL? {
    ResultFile.folder(output, isWhole: isWhole && only == nil && networks == nil)
  }

  /// Path of the program under test.
  var program: String { URL(fileURLWithPath: sidetone).path }

  /// Scorer of speech; nil if its Python is missing.
  var scorer: SpeechScorer? {
    let script = Self.folder.appendingPathComponent("score.py").path
    let scorer = SpeechScorer(python: URL(fileURLWithPath: python).path, script: script)
    if scorer == nil { print("no PESQ: \(python) is missing; make setup-bench makes it") }
    return scorer
  }

  /// The folder `Benchmarks` of this repository.
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("..").standardized
}
