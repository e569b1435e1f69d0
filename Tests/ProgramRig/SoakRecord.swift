package import Foundation
import Drawing

/// A process's resources and its voice delay over a long run.
package struct SoakRecord: Codable {
  /// One measurement of the process.
  package struct Sample: Codable {
    /// Progress of the run, in the unit of `unit`.
    package var at: Double
    /// Resources that the process held.
    package var holdings: ProcessHoldings
    /// Voice delay in milliseconds; nil without a call.
    package var delay: Double?
    /// Size of the files that the process writes, in bytes; nil if it writes none.
    package var storedBytes: Int?

    /// A measurement with these values.
    package init(
      at: Double,
      holdings: ProcessHoldings,
      delay: Double? = nil,
      storedBytes: Int? = nil
    ) {
      self.at = at
      self.holdings = holdings
      self.delay = delay
      self.storedBytes = storedBytes
    }
  }

  /// Title of the run.
  package var title: String
  /// Quantity and unit of `Sample.at`, for example "time (h)".
  package var unit: String
  /// Date at which the run began; nil in older records.
  package var date: Date? = Date()
  /// Command line of the run; nil in older records.
  package var command: String?
  /// Measurements in the order in which they were taken.
  package var samples: [Sample] = []

  /// A run that has not begun, by `command`.
  package init(title: String, unit: String, command: String) {
    self.title = title
    self.unit = unit
    self.command = command
  }

  /// Share of a run that passes before it is compared with its end.
  ///
  /// Until then resources may still grow.
  private static let settlingShare = 0.2
  /// Allowed growth of memory, in megabytes, and for each additional thread of the system's pool.
  ///
  /// An idle thread keeps up to 64 kB of what it has handled, and its stack.
  private static let memoryTolerance = (megabytes: 4.0, megabytesPerThread: 0.1)
  /// Allowed growth of the delay, in milliseconds or as a share of it, whichever is more: networks
  /// vary it.
  private static let delayTolerance = (milliseconds: 3.0, share: 0.1)
  /// Allowed growth of the number of descriptors: sockets that are being closed come and go.
  private static let descriptorTolerance = 2.0
  /// Highest allowed number of threads.
  ///
  /// The system's pool has as many as ever had work at the same moment, 255 at most.
  private static let mostThreads = 300
  /// Highest allowed size of stored files: a store's newest thousand calls, and SQLite's log of 4
  /// MB.
  private static let mostStoredBytes = 8_000_000

  // The second fifth of the run, and the last.
  private var ends: (early: ArraySlice<Sample>, late: ArraySlice<Sample>) {
    let fifth = max(1, Int(Self.settlingShare * Double(samples.count)))
    return (samples.dropFirst(fifth).prefix(fifth), samples.suffix(fifth))
  }

  private static func median(_ samples: ArraySlice<Sample>, _ value: (Sample) -> Double?) -> Double
  {
    Percentiles(samples.compactMap(value)).median
  }

  private func change(of value: (Sample) -> Double?) -> (early: Double, late: Double) {
    let ends = ends
    return (Self.median(ends.early, value), Self.median(ends.late, value))
  }

  /// Figures that grew too much from the second fifth of the run to the last, or exceeded a limit,
  /// in words; empty if none did.
  ///
  /// A run of fewer than ten samples is reported as well.
  package var growth: [String] {
    guard samples.count >= 10 else { return ["only \(samples.count) samples"] }
    var found: [String] = []
    func check(
      _ name: String,
      atMost tolerance: Double,
      _ value: (Sample) -> Double?
    ) {
      let (early, late) = change(of: value)
      if late - early > tolerance {
        found.append(String(format: "%@ grew from %.1f to %.1f", name, early, late))
      }
    }
    let threadChange = change { Double($0.holdings.threads) }
    let forThreads =
      Self.memoryTolerance.megabytesPerThread * max(0, threadChange.late - threadChange.early)
    check("memory", atMost: Self.memoryTolerance.megabytes + forThreads) { $0.holdings.megabytes }
    check("descriptors", atMost: Self.descriptorTolerance) { Double($0.holdings.descriptors) }
    let tolerance = max(
      Self.delayTolerance.milliseconds,
      Self.delayTolerance.share * change(of: \.delay).early
    )
    check("delay", atMost: tolerance, \.delay)
    let threads = samples.map(\.holdings.threads).max() ?? 0
    if threads > Self.mostThreads { found.append("there were \(threads) threads") }
    let stored = samples.compactMap(\.storedBytes).max() ?? 0
    if stored > Self.mostStoredBytes { found.append("the store grew to \(stored) bytes") }
    return found
  }

  // What is compared, in the order of the columns.
  private static var figures: [(name: String, format: String, value: (Sample) -> Double?)] {
    [
      ("memory", "%.1f MB", { $0.holdings.megabytes }),
      ("descriptors", "%.0f", { Double($0.holdings.descriptors) }),
      ("threads", "%.0f", { Double($0.holdings.threads) }),
      ("delay", "%.2f ms", { $0.delay }),
      ("stored", "%.0f kB", { sample in sample.storedBytes.map { Double($0) / 1e3 } }),
    ]
  }

  // A figure in the second fifth and in the last; nil if there is none.
  private func pair(_ format: String, _ value: (Sample) -> Double?) -> String? {
    guard samples.contains(where: { value($0) != nil }) else { return nil }
    let (early, late) = change(of: value)
    return String(format: "\(format) then \(format)", early, late)
  }

  /// The figures of the second fifth and the last, in a line.
  package var line: String {
    let parts = Self.figures.compactMap { figure in
      pair(figure.format, figure.value).map { "\(figure.name) \($0)" }
    }
    return "\(title): \(parts.joined(separator: ", "))"
  }

  /// The heads of the columns of `row`.
  package static var head: String {
    let names = ["run"] + figures.map { $0.name } + ["measured"]
    let rule = names.map { _ in "---" }.joined(separator: "|")
    return "| \(names.joined(separator: " | ")) |\n|\(rule)|"
  }

  /// The same figures as a row of a table in Markdown, with when and how they were measured.
  package var row: String {
    let pairs = Self.figures.map { pair($0.format, $0.value) ?? "" }
    let day = date.map { $0.formatted(.iso8601.year().month().day()) }
    let measured = [day, command.map { "`\($0)`" }].compactMap(\.self).joined(separator: ", ")
    return "| \(([title] + pairs + [measured]).joined(separator: " | ")) |"
  }

  /// All figures over the run, as SVG.
  package var svg: String {
    func series(_ name: String, _ value: (Sample) -> Double?) -> Chart.Series {
      Chart.Series(name, samples.map { Point(x: $0.at, y: value($0) ?? .nan) })
    }
    let all = [
      series("delay (ms)", \.delay),
      series("memory (MB)") { $0.holdings.megabytes },
      series("descriptors") { Double($0.holdings.descriptors) },
      series("threads") { Double($0.holdings.threads) },
      series("stored (100 kB)") { $0.storedBytes.map { Double($0) / 1e5 } },
    ]
    return Chart(
      title: title,
      horizontal: Axis(unit),
      vertical: Axis("ms, MB, number", range: 0...50),
      series: all.filter { $0.points.contains(where: \.y.isFinite) }
    ).svg()
  }

  /// Writes `name.json` and `name.svg` in `folder`, which is made if it is missing.
  package func write(named name: String, to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent(name)
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    try encoder.encode(self).write(to: file.appendingPathExtension("json"))
    try Data(svg.utf8).write(to: file.appendingPathExtension("svg"))
  }
}
