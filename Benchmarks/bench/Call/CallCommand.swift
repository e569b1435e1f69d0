import ProgramRig
import ArgumentParser
import Foundation
import Rig
import Simulation

/// Mouth-to-ear delay, sound, processor and memory of calls by several programs, on several
/// networks.
struct CallCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Compares calls of several programs between two headsets on an exact clock."
  )

  @Option(help: ArgumentHelp("How long each call is measured.", valueName: "seconds"))
  var seconds = 60

  @Option(help: ArgumentHelp("Calls of each program on each network.", valueName: "n"))
  var repeats = 3

  @Option(help: "Networks, separated by commas; direct is the loopback interface.")
  var networks = allNetworks

  @Option(help: ArgumentHelp("Only programs whose name contains this.", valueName: "text"))
  var only: String?

  @Option(
    help: ArgumentHelp(
      "Another program beside them: chromium, which takes most of two cores.",
      valueName: "program"
    )
  )
  var rival: Rival?

  @Option(
    help: ArgumentHelp(
      "Let so many other processes take all the processor that they get.",
      valueName: "n"
    )
  )
  var busy = 0

  @Option(help: ArgumentHelp(ResultFile.help, valueName: "folder"))
  var output: String?

  @Option(help: ArgumentHelp("The program sidetone.", valueName: "path"))
  var sidetone = ".build/release/sidetone"

  @Option(help: ArgumentHelp("Python with the packages pesq and pystoi.", valueName: "path"))
  var python = "Benchmarks/.venv/bin/python"

  @Option(help: ArgumentHelp("Leave logs and scored clips there.", valueName: "folder"))
  var keep: String?

  /// A program that is only called when it is asked for.
  enum Rival: String, ExpressibleByArgument {
    case chromium
  }

  private static let allNetworks = "direct,lan,wifi,lossy-5"

  private func write(_ report: LatencyReport) throws {
    let isWhole = only == nil && networks == Self.allNetworks && busy == 0
    guard let folder = ResultFile.folder(output, isWhole: isWhole) else { return }
    try report.write(to: folder)
  }

  private var programs: [any CallProgram] {
    let own = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let sidetone = URL(fileURLWithPath: sidetone).path
    var all: [any CallProgram] = [
      RawALSAProgram(own.appendingPathComponent("alsa-pass-through").path),
      SidetoneProgram(sidetone),
      SidetoneProgram(sidetone, frame: 10),
      SidetoneProgram(sidetone, frame: 5, bitrate: 96_000),
      SidetoneProgram(sidetone, frame: 2.5, bitrate: 128_000),
      SidetoneProgram(sidetone, frame: 20, period: 20),
      TrxProgram(frame: 960, buffer: 16, jitter: 16, kilobits: 48),
      TrxProgram(frame: 240, buffer: 8, jitter: 8, kilobits: 96),
      BaresipProgram(bitrate: 48_000),
    ]
    if rival == .chromium {
      all.append(ChromiumProgram(drivenFrom: folder.appendingPathComponent("chromium")))
    }
    return all.filter { only == nil || $0.name.contains(only ?? "") }
  }

  // The folder Benchmarks.
  private var folder: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
      .standardized
  }

  private func conditions() throws -> [NetworkConditions?] {
    try networks.split(separator: ",").map { name in
      if name == "direct" { return nil }
      guard let found = NetworkConditions.all.first(where: { $0.name == name }) else {
        let known = NetworkConditions.all.map(\.name).joined(separator: ", ")
        throw ValidationError("no network is called \(name); there are direct, \(known)")
      }
      return found
    }
  }

  func validate() throws {
    guard (12...3_600).contains(seconds) else {
      throw ValidationError("--seconds is between 12 and 3600")
    }
    guard (1...100).contains(repeats) else {
      throw ValidationError("--repeats is between 1 and 100")
    }
    guard (0...100).contains(busy) else {
      throw ValidationError("--busy is between 0 and 100")
    }
    _ = try conditions()
  }

  func run() throws {
    let work = try WorkFolder(keeping: keep)
    defer { work.remove() }
    let script = folder.appendingPathComponent("score.py").path
    var settings = Trial.Settings()
    settings.seconds = seconds
    settings.busyProcesses = busy
    settings.scorer = SpeechScorer(python: URL(fileURLWithPath: python).path, script: script)
    if settings.scorer == nil {
      print("no PESQ: \(python) is missing; make setup-bench makes it")
    }

    let conversation = try Conversation(in: work.url)
    var report = LatencyReport(seconds: seconds)
    var failures = 0
    // By turns, so that each program meets the same moments of the machine.
    for attempt in 0..<repeats {
      for conditions in try conditions() {
        for program in programs {
          if conditions != nil, program is RawALSAProgram { continue }
          guard FileManager.default.fileExists(atPath: program.executable) else {
            print("skipped: \(program.name) needs \(program.package)")
            continue
          }
          settings.seed = UInt64(attempt + 1)
          let trial = Trial(program, over: conditions, saying: conversation, settings: settings)
          let place = work.url.appendingPathComponent("trial-\(report.trials.count)")
          do {
            let result = try trial.run(in: place)
            print(LatencyReport.line(of: result))
            report.trials.append(result)
            try write(report)
          } catch {
            print("\(program.name) was not measured: \(error)")
            failures += 1
          }
          fflush(nil)
        }
      }
    }
    try write(report)
    print(report.table)
    guard !report.trials.isEmpty else {
      throw RigError("\(failures) calls failed, none was measured")
    }
  }
}
