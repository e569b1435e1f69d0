package import Foundation

/// What one setting cost, in milliseconds of processor time for each second of call.
package struct CostRow: Codable {
  package var setting: String
  /// A thread that wakes as often as the voice thread and does nothing.
  package var idle: [Double] = []
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
  private var overheads: [Double] { zip(raw, ours).map { 100 * ($1 / $0 - 1) } }
  /// The same without what waking costs.
  private var awake: [Double] {
    zip(zip(raw, ours), idle).map { 100 * (($0.1 - $1) / $0.0 - 1) }
  }
  /// What timing the stages costs, in percent of the voice thread.
  private var tracing: Double { Percentiles(zip(ours, traced).map { 100 * ($1 / $0 - 1) }).median }

  package var line: String {
    let all = Percentiles(overheads)
    let withoutWaking = Percentiles(awake)
    return String(
      format: "%@: libraries %.1f ms/s, waking alone %.1f, voice thread %.1f; overhead %.0f %% "
        + "(%.0f to %.0f), without waking %.0f %% (%.0f to %.0f); timing the stages %.1f %%",
      setting,
      Percentiles(raw).median,
      Percentiles(idle).median,
      Percentiles(ours).median,
      all.median,
      all(0),
      all(1),
      withoutWaking.median,
      withoutWaking(0),
      withoutWaking(1),
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

    `Benchmarks/.build/release/bench-cost`: milliseconds of processor time for each second of call, of libopus and libspeexdsp in plain C and of
    the whole voice thread, at the same pace. \(LatencyReport.ran(date, machine))

    \(rows.map { "- " + $0.line }.joined(separator: "\n"))
    """
  }

  /// Writes `cost.json`.
  package func write(to folder: URL) throws {
    try ResultFile.write(self, named: "cost", to: folder)
  }
}
