import ProgramRig
package import Foundation
package import Simulation
import VoiceEngine

/// One call of one program over one network, between two headsets on one clock.
package struct Trial {
  /// Settings of a trial: its durations, its disturbances and its scorer.
  package struct Settings {
    /// Measured duration, in seconds.
    package var seconds = 60
    /// Time for the call to be set up and settle before the measurement, in seconds.
    package var settling = 5
    /// Seed of the network's random choices, and of the moments at which the sound server is
    /// stopped.
    package var seed: UInt64 = 1
    /// Sound server of the headsets.
    package var devices = Devices.jack
    /// Number of other processes that each take all the processor time that they can get.
    package var busyProcesses = 0
    /// Number of times a minute that the sound server is stopped, for 3 to 20 ms each.
    package var serverStops = 0
    /// Path of the program that floods the answering side while it is measured, which is `bench`
    /// itself; nil for no flood.
    package var flooder: String?
    /// Scorer of sentences; nil to leave scores out.
    package var scorer: SpeechScorer?

    /// Creates settings for a minute of measurement after five seconds, without scores.
    package init() {}
  }

  /// Sound servers for the headsets.
  package enum Devices: Equatable, Sendable {
    /// JACK with an exact clock and periods of 128 frames.
    case jack
    /// PipeWire with cycles of `quantum` frames; nil for as few as the programs ask for.
    case pipeWire(quantum: Int?)
  }

  private let program: any CallProgram
  private let conditions: NetworkConditions?
  private let conversation: Conversation
  private let settings: Settings

  /// Creates a trial of `program` on an emulated network, or on the loopback interface if
  /// `conditions` is nil.
  package init(
    _ program: any CallProgram,
    over conditions: NetworkConditions?,
    saying conversation: Conversation,
    settings: Settings
  ) {
    self.program = program
    self.conditions = conditions
    self.conversation = conversation
    self.settings = settings
  }

  /// Places the call, records it, ends it, and returns the results.
  ///
  /// `folder` is created; logs and the clips that were scored are left there.
  package func run(in folder: URL) throws -> TrialResult {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let server: any SoundServer =
      switch settings.devices {
      case .jack: try JackServer(in: folder)
      case .pipeWire(let quantum): try PipeWireHeadsets(in: folder, quantum: quantum ?? 0)
      }
    server.exportEnvironment()
    defer { server.stop() }
    let rig = try HeadsetRig(
      playing: conversation.sounds,
      seconds: settings.settling + settings.seconds + 15
    )
    defer { rig.stop() }
    try server.connectRig()
    let relay = try conditions.map { try Relay($0, seed: settings.seed) }
    defer { relay?.stop() }

    let port = Int.random(in: 2_000...3_000) * 10
    let hosts = relay == nil ? ["127.0.0.1", "127.0.0.1"] : Relay.addresses
    let ends = zip(["headsetA", "headsetB"], hosts).enumerated().map { side, end in
      CallEnd(headset: end.0, host: end.1, port: port + 10 * side, folder: folder)
    }
    var running: [[RunningProgram]] = [[], []]
    defer { for program in running.joined() { program.stop() } }
    for side in [1, 0] {
      let invocations =
        side == 1
        ? try program.answering(ends[1], from: ends[0])
        : try program.calling(ends[0], to: ends[1])
      for (index, invocation) in invocations.enumerated() {
        let process = try RunningProgram(
          invocation.inside(relay?.namespaces[side]),
          environment: server.environment,
          log: folder.appendingPathComponent("program-\(side)-\(index).log")
        )
        running[side].append(process)
        if let pattern = invocation.readiness, !process.waits(for: pattern, seconds: 20) {
          throw RigError("\(program.name) did not get ready: \(process.output)")
        }
      }
    }
    let others = try (0..<settings.busyProcesses).map { number in
      try RunningProgram(
        Invocation("sh", ["-c", "while :; do :; done"]),
        environment: [:],
        log: folder.appendingPathComponent("busy-\(number).log")
      )
    }
    defer { for other in others { other.stop() } }
    let pauses = (server as? JackServer).map { server in
      ServerPauses(
        of: server,
        perMinute: settings.serverStops,
        seconds: settings.settling + settings.seconds,
        seed: settings.seed
      )
    }
    defer { pauses?.stop() }
    let placed = rig.frames
    Thread.sleep(forTimeInterval: Double(settings.settling))
    let flood = try settings.flooder.map { try self.flood(ends[1], by: $0, in: folder) }
    defer { flood?.stop() }
    let begin = rig.frames
    let stalls = server.stalls.count
    let stolen = Processors.stolenSeconds
    let before = running.map { ProcessorTime(of: $0) }
    Thread.sleep(forTimeInterval: Double(settings.seconds))
    let end = rig.frames
    let after = running.map { ProcessorTime(of: $0) }
    let measured = Double(settings.seconds)
    let stolenShare = stolen.flatMap { early in
      Processors.stolenSeconds.map { ($0 - early) / measured }
    }
    let withoutJack = zip(before, after).compactMap { before, after in
      before.withoutJack.flatMap { early in after.withoutJack.map { ($0 - early) / measured } }
    }
    var result = TrialResult(
      program: program.name + circumstances,
      network: conditions?.name ?? TrialResult.direct,
      directions: [],
      processorShares: zip(before, after).map { ($1.all - $0.all) / measured },
      sharesWithoutJack: withoutJack.count == running.count ? withoutJack : nil,
      peakMegabytes: running.map { $0.reduce(0) { $0 + $1.peakMegabytes } },
      stalls: JackServer.longOnes(among: Array(server.stalls.dropFirst(stalls))),
      stolenShare: stolenShare
    )
    for program in running.joined() where !program.isRunning {
      throw RigError("\(self.program.name) ended by itself: \(program.output.suffix(300))")
    }
    if let flood {
      guard flood.waits(for: "connections", seconds: 10) else {
        throw RigError("the flood ended early: \(flood.output.suffix(300))")
      }
      print(flood.output.trimmingCharacters(in: .whitespacesAndNewlines))
    }
    // The last speech is still under way.
    Thread.sleep(forTimeInterval: 1)
    for program in running.joined() { program.stop() }
    rig.stop()
    let listener = Listener(to: conversation, scorer: settings.scorer)
    for (source, name) in [(0, "A to B"), (1, "B to A")] {
      let direction = try listener.direction(
        name,
        heard: rig.recording(of: 1 - source),
        of: source,
        during: begin..<end,
        placed: placed,
        in: folder
      )
      result.directions.append(direction)
    }
    return result
  }

  // What one end has spent so far, in seconds.
  private struct ProcessorTime {
    let all: Double
    /// Seconds without libjack's threads; nil if there are none.
    let withoutJack: Double?

    init(of programs: [RunningProgram]) {
      let all = programs.reduce(0) { $0 + $1.processorSeconds }
      let jack = programs.compactMap {
        $0.processorSeconds(atPriority: JackServer.clientPriority)
      }
      self.all = all
      withoutJack = jack.isEmpty ? nil : all - jack.reduce(0, +)
    }
  }

  // What else happens on the machine, for the tables.
  private var circumstances: String {
    let busy = settings.busyProcesses
    let stops = settings.serverStops
    let server =
      switch settings.devices {
      case .jack: ""
      case .pipeWire(nil): ", PipeWire"
      case .pipeWire(let quantum?): ", PipeWire, cycles of \(quantum)"
      }
    return server + (busy == 0 ? "" : ", beside \(busy) busy processes")
      + (stops == 0 ? "" : ", the server stopped \(stops) times a minute")
      + (settings.flooder == nil ? "" : ", flooded")
  }

  private func flood(_ end: CallEnd, by program: String, in folder: URL) throws -> RunningProgram {
    let ports = ["--signalling", "\(end.port)", "--media", "\(end.mediaPort)"]
    return try RunningProgram(
      Invocation(program, ["flood"] + ports + ["--seconds", "\(settings.seconds)"]),
      environment: [:],
      log: folder.appendingPathComponent("flood.log")
    )
  }
}
