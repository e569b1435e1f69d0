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

  @OptionGroup var options: BenchOptions

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

  @Option(
    help: ArgumentHelp(
      "Stop the sound server so many times a minute, for 3 to 20 ms each.",
      valueName: "n"
    )
  )
  var serverStops = 0

  @Option(help: "The sound server of the headsets: jack, with an exact clock, or pipewire.")
  var devices = SoundServerName.jack

  @Option(
    help: ArgumentHelp(
      "Frames of each of PipeWire's cycles; as few as asked for, else.",
      valueName: "n"
    )
  )
  var quantum: Int?

  @Flag(help: "Flood the answering side with INVITEs, datagrams and connections (bench flood).")
  var flood = false

  @Flag(help: "Let the calls use all processors, not one.")
  var allProcessors = false

  /// Sound server of the headsets.
  enum SoundServerName: String, ExpressibleByArgument {
    case jack, pipewire
  }

  /// A program that is only called on request.
  enum Rival: String, ExpressibleByArgument {
    case chromium
  }

  private func write(_ report: LatencyReport) throws {
    let isWhole =
      busy == 0 && serverStops == 0 && !flood && !allProcessors && devices == .jack
    guard let folder = options.results(isWhole: isWhole) else { return }
    try report.write(to: folder)
  }

  private var programs: [any CallProgram] {
    let own = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let sidetone = options.program
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
      all.append(
        ChromiumProgram(drivenFrom: BenchOptions.folder.appendingPathComponent("chromium"))
      )
    }
    return all.filter { options.wants($0.name) }
  }

  func validate() throws {
    guard (0...100).contains(busy) else {
      throw ValidationError("--busy is between 0 and 100")
    }
    guard (0...1_000).contains(serverStops) else {
      throw ValidationError("--server-stops is between 0 and 1000")
    }
    guard devices == .pipewire || quantum == nil else {
      throw ValidationError("--quantum is for --devices pipewire")
    }
    guard (32...8_192).contains(quantum ?? 32) else {
      throw ValidationError("--quantum is between 32 and 8192")
    }
    guard devices == .jack || serverStops == 0 else {
      throw ValidationError("--server-stops is for --devices jack")
    }
    guard !flood || options.networks ?? "direct" == "direct" else {
      throw ValidationError("--flood comes over the loopback interface: --networks direct")
    }
  }

  // The rig is a client of the server by its own libjack, which is chosen before `main`.
  private func startAgainWithPipeWire() throws {
    if let missing = PipeWireHeadsets.missing { throw RigError("install \(missing)") }
    let folder = PipeWireHeadsets.jackFolder
    guard ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] != folder else { return }
    unsafe setenv("LD_LIBRARY_PATH", folder, 1)
    var arguments = unsafe CommandLine.arguments.map { unsafe strdup($0) } + [nil]
    unsafe execv("/proc/self/exe", &arguments)
    throw RigError("bench cannot be started again: \(unsafe String(cString: strerror(errno)))")
  }

  func run() throws {
    if devices == .pipewire { try startAgainWithPipeWire() }
    let work = try WorkFolder(keeping: options.keep)
    defer { work.remove() }
    let seconds = options.seconds ?? 60
    var settings = Trial.Settings()
    settings.seconds = seconds
    settings.busyProcesses = busy
    settings.serverStops = serverStops
    if devices == .pipewire { settings.devices = .pipeWire(quantum: quantum) }
    if flood { settings.flooder = CommandLine.arguments[0] }
    settings.scorer = options.scorer
    let conversation = try Conversation(in: work.url)
    var report = LatencyReport(seconds: seconds)
    var failures = 0
    // By turns, so that each program meets the same moments of the machine.
    for attempt in 0..<(options.repeats ?? 3) {
      for conditions in try options.conditions(or: flood ? "direct" : "direct,lan,wifi,lossy-5") {
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
            let isOne = !(allProcessors || flood || program.needsAllProcessors)
            try Processors.keeping(toOne: isOne) {
              let result = try trial.run(in: place)
              print(LatencyReport.line(of: result))
              report.trials.append(result)
            }
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
