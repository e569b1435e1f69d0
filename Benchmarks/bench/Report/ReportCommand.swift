import ProgramRig
import ArgumentParser
import Foundation
import Rig

/// Results page, made from the JSON of the other benchmarks.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Writes the results page, from the results of the other commands."
  )

  @Option(help: ArgumentHelp("Where the results are.", valueName: "folder"))
  var results = ResultFile.folder

  @Option(help: ArgumentHelp("Where README.md and its pictures go.", valueName: "folder"))
  var output = "Benchmarks/results"

  func run() throws {
    let folder = URL(fileURLWithPath: results)
    var sections = [
      "# What Sidetone costs",
      """
      Written by `bench report` from the results of the other commands. `make results` runs all of
      them at length.
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
    sections += try Self.longRuns(in: folder)
    guard sections.count > 2 else { throw RigError("no results in \(folder.path)") }
    let page = Self.wrapped(sections.joined(separator: "\n\n")) + "\n"
    let place = URL(fileURLWithPath: output)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let text = place.appendingPathComponent("README.md")
    try page.write(to: text, atomically: true, encoding: .utf8)
    for picture in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where picture.hasSuffix(".svg") {
      let copy = place.appendingPathComponent(picture)
      if FileManager.default.fileExists(atPath: copy.path) {
        try FileManager.default.removeItem(at: copy)
      }
      try FileManager.default.copyItem(at: folder.appendingPathComponent(picture), to: copy)
    }
  }

  // Sentences stop at 120 columns, as in other documents; tables and pictures cannot.
  private static func wrapped(_ page: String) -> String {
    page.components(separatedBy: "\n\n").map { part in
      let isText = !["|", "#", "!"].contains { part.hasPrefix($0) }
      guard isText else { return part }
      var lines: [String] = []
      for line in part.split(separator: "\n") {
        // An item of a list begins anew.
        if lines.isEmpty || line.hasPrefix("- ") { lines.append("") }
        for word in line.split(separator: " ") {
          let last = lines[lines.count - 1]
          if !last.isEmpty, last.count + 1 + word.count > 120 {
            lines.append("  " + word)
          } else {
            lines[lines.count - 1] = last.isEmpty ? String(word) : "\(last) \(word)"
          }
        }
      }
      let isList = lines.contains { $0.hasPrefix("- ") }
      return lines.map { isList ? $0 : String($0.trimmingPrefix("  ")) }.joined(separator: "\n")
    }
    .joined(separator: "\n\n")
  }

  // Each run that was measured: its row, and its picture.
  private static func longRuns(in folder: URL) throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
      .filter { $0.hasPrefix("soak-") && $0.hasSuffix(".json") }
      .map { String($0.dropLast(".json".count)) }
    var runs: [(name: String, record: SoakRecord)] = []
    for name in names {
      guard let record = try ResultFile.read(SoakRecord.self, named: name, from: folder) else {
        continue
      }
      runs.append((name, record))
    }
    guard !runs.isEmpty else { return [] }
    let introduction = """
      ## Long runs

      What a process holds, and how long its voice takes: the medians of the second fifth of each
      run, and of the last. The pictures have all of it.
      """
    let rows = runs.map { $0.record.row }
    let pictures = runs.map { "![\($0.record.title)](\($0.name).svg)" }
    return [introduction, ([SoakRecord.head] + rows).joined(separator: "\n")] + pictures
  }

  private static func section(of counted: [String: Int]) -> String {
    let rows = counted.sorted { $0.key < $1.key }.map { "| `\($0.key)` | \($0.value) |" }
    return """
      ## Instructions

      `bench counters`: for 20 ms of audio, counted by callgrind. `libopus.call` is encoder and
      decoder alone, `VoiceStream.call` the same with packets, jitter buffer and time-stretch.

      | | instructions |
      |---|---|
      \(rows.joined(separator: "\n"))
      """
  }
}
