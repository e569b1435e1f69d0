import ArgumentParser
import Foundation
import Rig

/// The results page, from what the other benchmarks left as JSON.
@main
struct PageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-page",
    abstract: "Writes README.md beside the results of the benchmarks."
  )

  @Option(help: ArgumentHelp("Where the results are.", valueName: "folder"))
  var results = "Benchmarks/results"

  func run() throws {
    let folder = URL(fileURLWithPath: results)
    var sections = [
      "# What Sidetone costs",
      """
      Written by `bench-page` from the results of the other benchmarks; `make results` runs all of
      them at length. The programs are in `Benchmarks/.build/release` after `make build-bench`.
      """,
    ]
    if let report = try ResultFile.read(LatencyReport.self, named: "latency", from: folder) {
      sections.append(report.section)
    }
    if let report = try ResultFile.read(SetupReport.self, named: "setup", from: folder) {
      sections.append(report.section)
    }
    if let report = try ResultFile.read(CostReport.self, named: "cost", from: folder) {
      sections.append(report.section)
    }
    if let counted = try ResultFile.read([String: Int].self, named: "instructions", from: folder) {
      sections.append(Self.section(of: counted))
    }
    if let report = try ResultFile.read(ScaleReport.self, named: "scale", from: folder) {
      sections.append(report.section)
    }
    if let report = try ResultFile.read(PlayoutReport.self, named: "playout", from: folder) {
      sections.append(report.section)
    }
    guard sections.count > 2 else { throw RigError("no results in \(folder.path)") }
    let page = sections.joined(separator: "\n\n") + "\n"
    try page.write(
      to: folder.appendingPathComponent("README.md"),
      atomically: true,
      encoding: .utf8
    )
  }

  private static func section(of counted: [String: Int]) -> String {
    let rows = counted.sorted { $0.key < $1.key }.map { "| `\($0.key)` | \($0.value) |" }
    return """
      ## Instructions

      `bench-modules`: for 20 ms of audio, counted by callgrind. `libopus.call` is encoder and
      decoder alone, `VoiceStream.call` the same with packets, jitter buffer and time-stretch.

      | | instructions |
      |---|---|
      \(rows.joined(separator: "\n"))
      """
  }
}
