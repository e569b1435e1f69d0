import Foundation
import ProgramRig
import Testing

/// A long call: an hour with `LONG_CALL_SECONDS=3600`, which takes about as long.
///
/// `bench report` shows a call whose length was asked for.
struct LongCallTests {
  private static let asked =
    ProcessInfo.processInfo.environment["LONG_CALL_SECONDS"].flatMap { Int($0) }
  private static let seconds = asked ?? 90

  @Test(.enabled(if: GuestScript.canRun)) func longCallStaysAsItWas() throws {
    let share = ProgramUnderTest.package.appendingPathComponent(".build/long")
    let machine = try GuestScript.machine.get()
    try GuestScript.write("long \(Self.seconds)", to: share)
    try machine.boot(sharing: share, processorSeconds: 240 + 8 * Double(Self.seconds))
    let folder = share.appendingPathComponent("out/long")
    let results = ProgramUnderTest.package.appendingPathComponent(".build/results")
    let ends = try ["begin", "end"].map { part in
      let call = try HeardCall(
        in: folder.appendingPathComponent(part),
        events: ["caller", "callee"]
      )
      return Percentiles(call.chirps().map(\.delay)).median
    }
    print("delay \(ends[0]) ms at the beginning, \(ends[1]) ms at the end")
    #expect(ends[1] - ends[0] <= Scenario.delayTolerance)
    for side in ["caller", "callee"] {
      let record = try Self.record(of: side, in: folder)
      print(record.line)
      try record.write(named: "soak-kernel-\(side)", to: Self.asked == nil ? share : results)
      #expect(record.growth == [])
    }
  }

  private static func record(of side: String, in folder: URL) throws -> SoakRecord {
    func text(_ kind: String) throws -> String {
      let file = folder.appendingPathComponent("\(side).\(kind)")
      return try String(contentsOf: file, encoding: .utf8)
    }
    #expect(try text("status") == "0\n", "the \(side) did not end well")
    let delays = try text("jsonl").split(separator: "\n").compactMap { line in
      let event = try? JSONDecoder().decode(Statistics.self, from: Data(line.utf8))
      return event.map { (at: $0.at / 1_000, delay: $0.playoutDelayMs + $0.playbackFillMs) }
    }
    var record = SoakRecord(
      title: "The \(side) of a call of \(seconds) s on a real kernel",
      unit: "time (s)",
      command: "LONG_CALL_SECONDS=\(seconds) swift test --filter LongCallTests"
    )
    record.samples = try text("holdings").split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 4, let at = Double(words[0]), let descriptors = Int(words[1]),
        let threads = Int(words[2]), let pages = Int(words[3])
      else { return nil }
      return SoakRecord.Sample(
        at: at,
        holdings: ProcessHoldings(descriptors: descriptors, threads: threads, pages: pages),
        delay: delays.last { $0.at <= at }?.delay
      )
    }
    return record
  }

  /// Figures of a `stats` event that show the delay of the voice; other events lack them.
  private struct Statistics: Decodable {
    let at: Double
    let playoutDelayMs: Double
    let playbackFillMs: Double
  }
}
