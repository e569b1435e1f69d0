import ProgramRig
package import Foundation

/// What one setting cost, in milliseconds of processor time for each second of call.
package struct CostRow: Codable {
  package var setting: String
  /// The libraries alone, without a pause between packets.
  package var unpacedRaw: [Double] = []
  /// The voice loop, system calls included, without a pause.
  package var unpacedOurs: [Double] = []
  /// The same while it times each packet in each stage.
  package var unpacedTraced: [Double] = []
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

  /// What `those` cost beyond `others`, of measurements that were made one after the other, in
  /// percent of the others.
  private func beyond(_ others: [Double], _ those: [Double]) -> Percentiles {
    Percentiles(zip(others, those).map { 100 * ($1 / $0 - 1) })
  }

  /// The same of the least of each: what disturbs a measurement without pauses only adds to it.
  private func leastBeyond(_ others: [Double], _ those: [Double]) -> Double {
    100 * (Percentiles(those)(0) / Percentiles(others)(0) - 1)
  }

  package var line: String {
    let paced = beyond(raw, ours)
    let caller = beyond(self.caller, ours)
    return [
      String(
        format:
          "%@: without a pause libraries %.2f ms/s, voice loop %.2f, %.1f %% more (median %.1f)",
        setting,
        Percentiles(unpacedRaw)(0),
        Percentiles(unpacedOurs)(0),
        leastBeyond(unpacedRaw, unpacedOurs),
        beyond(unpacedRaw, unpacedOurs).median
      ),
      String(format: "timing the stages %.1f %%", leastBeyond(unpacedOurs, unpacedTraced)),
      String(
        format: "in the time of a call libraries %.1f ms/s, a caller in C %.1f, voice thread %.1f",
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

    `bench cost`: milliseconds of processor time for each second of call. The baseline is libopus
    and libspeexdsp in plain C; beside it, the whole voice loop with its system calls.

    The first figures are without pauses and without a sound card (the least of all runs): the cost
    of the code. The second are in the time of a call, beside the smallest caller in C that waits
    for each packet, sends and receives (medians, least and most). Between packets the processor
    sleeps and its caches go cold; the voice thread wakes once each period.
    \(LatencyReport.ran(date, machine))

    \(rows.map { "- " + $0.line }.joined(separator: "\n"))
    """
  }

  /// Writes `cost.json`.
  package func write(to folder: URL) throws {
    try ResultFile.write(self, named: "cost", to: folder)
  }
}
