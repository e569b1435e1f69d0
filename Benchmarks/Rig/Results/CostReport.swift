import ProgramRig
package import Foundation

/// Costs of one setting, in milliseconds of processor time for each second of call.
package struct CostRow: Codable {
  package var setting: String
  /// Costs of a caller in plain C that wakes for each packet, sends and receives.
  package var caller: [Double] = []
  /// Costs of the libraries alone.
  package var raw: [Double] = []
  /// Costs of the voice thread.
  package var ours: [Double] = []

  package init(setting: String) {
    self.setting = setting
  }

  /// Returns the percentiles of the excess of `those` over `others`, in percent of the others.
  ///
  /// Costs at the same index were measured one after the other.
  private func beyond(_ others: [Double], _ those: [Double]) -> Percentiles {
    Percentiles(zip(others, those).map { 100 * ($1 / $0 - 1) })
  }

  package var line: String {
    let paced = beyond(raw, ours)
    let caller = beyond(self.caller, ours)
    return [
      String(
        format: "%@: libraries %.1f ms/s, a caller in C %.1f, voice thread %.1f",
        setting,
        Percentiles(raw).median,
        Percentiles(self.caller).median,
        Percentiles(ours).median
      ),
      String(
        format: "%.0f %% over the libraries (%.0f to %.0f), %.0f %% over the caller (%.0f to %.0f)",
        paced.median,
        paced(0),
        paced(1),
        caller.median,
        caller(0),
        caller(1)
      ),
    ].joined(separator: "; ")
  }
}

/// Costs of all settings, written as JSON.
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

    `bench cost`: milliseconds of processor time for each second of call (medians, least and most).
    The libraries are libopus and libspeexdsp in plain C; the caller is the smallest one in C that
    waits for each packet, sends and receives. Between packets the processor sleeps and its caches
    go cold; the voice thread wakes once each period.
    \(LatencyReport.ran(date, machine))

    \(rows.map { "- " + $0.line }.joined(separator: "\n"))
    """
  }

  /// Writes `cost.json`.
  package func write(to folder: URL) throws {
    try ResultFile.write(self, named: "cost", to: folder)
  }
}
