package import Foundation

/// What one setting cost, in milliseconds of processor time for each second of call.
package struct CostRow: Codable {
  package var setting: String
  /// A caller in plain C that wakes for each packet, sends and receives.
  package var caller: [Double] = []
  /// The libraries alone.
  package var raw: [Double] = []
  /// The voice thread.
  package var ours: [Double] = []
  /// The voice thread while it times each packet in each stage.
  package var traced: [Double] = []

  package init(setting: String) {
    self.setting = setting
  }

  /// What the voice thread costs beyond the libraries, of measurements that were made one after the other,
  /// in percent of the libraries.
  private var overheads: [Double] { beyond(raw) }
  /// The same beyond the caller in C.
  private var beyondCaller: [Double] { beyond(caller) }

  private func beyond(_ others: [Double]) -> [Double] {
    zip(others, ours).map { 100 * ($1 / $0 - 1) }
  }

  /// What timing the stages costs, in percent of the voice thread.
  private var tracing: Double { Percentiles(zip(ours, traced).map { 100 * ($1 / $0 - 1) }).median }

  package var line: String {
    let all = Percentiles(overheads)
    let beyond = Percentiles(beyondCaller)
    return String(
      format:
        "%@: libraries %.1f ms/s, a caller in C %.1f, voice thread %.1f; %.0f %% over the libraries "
        + "(%.0f to %.0f), %.0f %% over the caller (%.0f to %.0f); timing the stages %.1f %%",
      setting,
      Percentiles(raw).median,
      Percentiles(caller).median,
      Percentiles(ours).median,
      all.median,
      all(0),
      all(1),
      beyond.median,
      beyond(0),
      beyond(1),
      tracing
    )
  }
}

/// All settings, as JSON.
package struct CostReport: Codable {
  package var date = Date()
  package var machine = Machine()
  package var rows: [CostRow]

  package init(rows: [CostRow]) {
    self.rows = rows
  }

  /// The section of the results page.
  package var section: String {
    """
    ## Cost beside the libraries

    `bench-cost`: milliseconds of processor time for each second of call, of libopus and libspeexdsp in plain C, of
    the smallest caller in C that waits for each packet, sends and receives as well, and of the whole voice thread, which wakes once in each period. \(LatencyReport.ran(date, machine))

    \(rows.map { "- " + $0.line }.joined(separator: "\n"))
    """
  }

  /// Writes `cost.json`.
  package func write(to folder: URL) throws {
    try ResultFile.write(self, named: "cost", to: folder)
  }
}
