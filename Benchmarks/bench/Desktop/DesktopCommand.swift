import ArgumentParser
import Foundation
import Rig

/// Calls through the sound server of a desktop: their delay, and what a restart of the server
/// costs.
struct DesktopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "desktop",
    abstract: "Measures calls through PipeWire, by ALSA's default, and restarts it in a call."
  )

  @Option(
    help: ArgumentHelp("How long each delay is measured; 0 for not at all.", valueName: "seconds")
  )
  var seconds = 20

  @Option(help: ArgumentHelp("How often the server is restarted.", valueName: "n"))
  var restarts = 3

  @Option(help: ArgumentHelp("The program sidetone.", valueName: "path"))
  var sidetone = ".build/release/sidetone"

  @Option(help: ArgumentHelp("Leave recordings and logs there.", valueName: "folder"))
  var keep: String?

  func validate() throws {
    guard seconds == 0 || (12...600).contains(seconds), (0...20).contains(restarts) else {
      throw ValidationError("--seconds is 0 or between 12 and 600, --restarts between 0 and 20")
    }
  }

  func run() throws {
    if let missing = PipeWireServer.missing {
      print("skipped: calls through a desktop's sound server need the packages \(missing)")
      return
    }
    let work = try WorkFolder(keeping: keep)
    defer { work.remove() }
    let program = URL(fileURLWithPath: sidetone).path
    try measureRestarts(of: program, in: work.url)
    guard seconds > 0 else { return }
    let throughServer = try delay(of: program, in: work.url)
    let throughJack = try delayOverJack(of: program, in: work.url)
    let quantum = Double(PipeWireServer.quantum) / 48
    print(
      String(
        format:
          "mouth to ear: PipeWire %.1f ms, JACK %.1f ms; a quantum in and one out are %.1f ms",
        throughServer,
        throughJack,
        2 * quantum
      )
    )
  }

  private func measureRestarts(of program: String, in folder: URL) throws {
    for attempt in 0..<restarts {
      let place = folder.appendingPathComponent("restart-\(attempt)")
      let server = try PipeWireServer(in: place)
      defer { server.stop() }
      let call = EchoCall(program, over: server, in: place)
      let outcome = try call.run(seconds: 24, restartingAfter: 8)
      let delays = outcome.echoes.map(\.delay)
      print(
        String(
          format:
            "restart %d: down for %.0f ms, silent for %.0f; there and back %.1f ms, then %.1f",
          attempt + 1,
          outcome.downtime,
          outcome.silence,
          Percentiles(Array(delays.prefix(12))).median,
          Percentiles(Array(delays.suffix(12))).median
        )
      )
      fflush(nil)
      guard outcome.isEndedWell, (outcome.echoes.last?.second ?? 0) > 20 else {
        throw RigError("the call did not go on, or did not end well")
      }
      guard outcome.isAnnounced else {
        throw RigError("the server knew of no call, or the call's user not of the restart")
      }
    }
  }

  /// From the call to itself, which knows what it said.
  private struct Loopback: Decodable {
    let medianMs: Double
  }

  private func delay(of program: String, in folder: URL) throws -> Double {
    let place = folder.appendingPathComponent("delay")
    let server = try PipeWireServer(in: place)
    defer { server.stop() }
    let answer = place.appendingPathComponent("loopback.log")
    let call = try RunningProgram(
      Invocation(
        program,
        ["loopback", "--headset", "default", "--duration", "\(seconds)", "--json"]
      ),
      environment: server.environment,
      log: answer
    )
    defer { call.stop() }
    guard call.waitForExit() == 0, let line = call.output.split(separator: "\n").last else {
      throw RigError("no call through PipeWire: \(call.output)")
    }
    return try JSONDecoder().decode(Loopback.self, from: Data(line.utf8)).medianMs
  }

  private func delayOverJack(of program: String, in folder: URL) throws -> Double {
    let place = folder.appendingPathComponent("jack")
    let conversation = try Conversation(in: folder)
    var settings = Trial.Settings()
    settings.seconds = seconds
    let trial = Trial(
      SidetoneProgram(program, frame: 10),
      over: nil,
      saying: conversation,
      settings: settings
    )
    return try trial.run(in: place).median
  }
}
