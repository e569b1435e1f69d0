import Foundation
import ProgramRig
import Simulation
import Testing

/// Two hosts, each with a data folder of its own, and the network between them.
final class AttackScene {
  let folder: URL
  let said: URL
  let heard: URL
  private var relay: Relay

  /// Hosts on a network with these conditions, by default a cable.
  init(
    _ attacker: (any RelayAttacker)? = nil,
    over conditions: NetworkConditions = .clean,
    seed: UInt64 = 1
  ) throws {
    folder = try Bench.folder()
    said = folder.appendingPathComponent("said.wav")
    heard = folder.appendingPathComponent("heard.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: said)
    relay = try Relay(conditions, seed: seed, attacker: attacker)
  }

  deinit { relay.stop() }

  /// Puts another attacker on the path, which is then a cable.
  func replace(_ attacker: any RelayAttacker) throws {
    relay.stop()
    relay = try Relay(.clean, seed: 1, attacker: attacker)
  }

  private func run(on host: Int, _ arguments: [String]) throws -> ProgramRun {
    let program = try #require(Bench.program)
    let ip = try #require(Bench.ip)
    let data = folder.appendingPathComponent("host\(host)").path
    return try ProgramRun(
      ip,
      ["netns", "exec", relay.namespaces[host], program] + arguments,
      environment: ["XDG_DATA_HOME": data, "XDG_RUNTIME_DIR": folder.path]
    )
  }

  func listen(_ options: String...) throws -> ProgramRun {
    let run = try run(
      on: 1,
      [
        "listen", "--answer", "--json", "--user", "bob", "--capture", "null", "--playback",
        "file:\(heard.path)", "--listen", "\(Relay.addresses[1]):5060",
      ] + options
    )
    #expect(run.wait(for: "registered"))
    return run
  }

  func call(seconds: Int = 6, _ options: String...) throws -> ProgramRun {
    try run(
      on: 0,
      [
        "call", "sip:bob@\(Relay.addresses[1])", "--json", "--duration", "\(seconds)",
        "--capture", "file:\(said.path)", "--playback", "null",
      ] + options
    )
  }

  func tool(on host: Int, _ arguments: String...) throws -> String {
    let run = try run(on: host, arguments)
    #expect(run.waitForExit() == 0, "\(run.output)")
    return run.output
  }

  func end(_ run: ProgramRun) {
    run.signal(SIGTERM)
    _ = run.waitForExit()
  }
}
