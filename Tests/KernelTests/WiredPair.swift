import Foundation
import ProgramRig

/// A call between two machines on one wire, each with its own kernel, clock and headset.
struct WiredPair {
  static let name = "two-machines"
  private static let seconds = 15

  /// Boots both machines, lets one call the other, and returns each side's outcome; files go to
  /// `folder`.
  static func run(_ kernel: KernelMachine, functions: String, in folder: URL) throws -> [Outcome] {
    let port = Int.random(in: 20_000...30_000)
    let shares = [1, 2].map { folder.appendingPathComponent("out/\(name)-\($0)") }
    let ends: [KernelMachine.WireEnd] = [.first(port: port), .second(port: port)]
    var machines: [RunningProgram] = []
    for (index, share) in shares.enumerated() {
      try FileManager.default.createDirectory(at: share, withIntermediateDirectories: true)
      let script = functions + "cards\nwire \(index + 1) \(seconds)\n"
      try Data(script.utf8).write(to: share.appendingPathComponent("guest.sh"))
      machines.append(try kernel.start(sharing: share, at: ends[index]))
      // The wire's first end has to be there for the second: a machine that prints has it.
      guard machines[index].waits(for: ".", seconds: Patience.limit) else {
        throw RigError("machine \(index + 1) does not start")
      }
    }
    try KernelMachine.wait(for: machines, seconds: Double(seconds) + 90)
    let calls = try shares.map {
      try HeardCall(in: $0.appendingPathComponent("out"), events: ["events"])
    }
    let chirps = calls.map { $0.chirps(fromAnotherClock: true) }
    // By how much one clock is ahead of the other is in both directions, once more and once less.
    let interval = Double(HeardCall.interval) / 48
    let both = chirps.map { Percentiles($0.map(\.delay)).median }.reduce(0, +)
    let delay = both.truncatingRemainder(dividingBy: interval) / 2
    return zip(calls, chirps).enumerated().map { index, heard in
      Outcome("\(name)-\(index + 1)", of: heard.0, chirps: heard.1, meanDelay: delay)
    }
  }
}
