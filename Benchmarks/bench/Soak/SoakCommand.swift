import ArgumentParser
import Foundation
import ProgramRig
import Rig
import Simulation

/// Growth over a long run: delay, memory, descriptors, threads, the store.
struct SoakCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "soak",
    abstract: "What grows over a long call in virtual time, and over many real calls.",
    discussion: "Fails if the last fifth of a run holds more than the second fifth."
  )

  @Option(help: ArgumentHelp("How long the call in virtual time is.", valueName: "hours"))
  var hours = 24.0

  @Option(
    help: ArgumentHelp(
      "Length of its packets, 5, 10 or 20. Default: as the network has it.",
      valueName: "ms"
    )
  )
  var frame: Int?

  @Option(help: ArgumentHelp("How many real calls are made, one after the other.", valueName: "n"))
  var calls = 10_000

  @OptionGroup var options: BenchOptions

  func validate() throws {
    guard hours == 0 || (0.01...1_000).contains(hours) else {
      throw ValidationError("--hours is 0, or between 0.01 and 1000")
    }
    guard [nil, 5, 10, 20].contains(frame) else {
      throw ValidationError("--frame is 5, 10 or 20")
    }
    guard calls == 0 || (20...1_000_000).contains(calls) else {
      throw ValidationError("--calls is 0, or between 20 and 1000000")
    }
  }

  func run() async throws {
    var growth: [String] = []
    func conclude(_ record: SoakRecord, _ name: String) throws {
      print(record.line)
      growth += record.growth.map { "\(record.title): \($0)" }
      let folder = options.results() ?? URL(fileURLWithPath: ResultFile.folder)
      try record.write(named: name, to: folder)
    }
    let work = try WorkFolder()
    defer { work.remove() }
    if hours > 0 {
      let sound = try Conversation(in: work.url).utterances.joined().flatMap(\.samples)
      for case .some(let network) in try options.conditions(or: "wifi-stalls") {
        let record = try VirtualSoak(
          hours: hours,
          network: network,
          sound: sound,
          packetFrames: frame.map { 48 * $0 }
        ).run()
        try conclude(record, String(format: "soak-%@-%gh", network.name, hours))
      }
    }
    if calls > 0 {
      let soak = CallSoak(options.program, in: work.url, calls: calls)
      let records = try await soak.runCaller()
      try conclude(records.caller, "soak-caller")
      try conclude(records.echo, "soak-echo")
      try conclude(soak.runListener(), "soak-listener")
    }
    guard growth.isEmpty else { throw RigError(growth.joined(separator: "\n")) }
  }
}
