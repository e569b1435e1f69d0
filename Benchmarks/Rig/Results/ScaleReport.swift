import Drawing
package import Foundation

/// Costs of one number of simultaneous calls.
package struct ScaleRow: Codable {
  package var calls: Int
  /// Processor time in milliseconds for each call and second.
  package var processorMilliseconds = 0.0
  /// Memory in megabytes for each call.
  package var megabytes = 0.0
  /// Share of the packets sent to the echo server that came back, 0 to 1.
  package var echoedShare = 0.0
  /// Median lateness of the voice threads in their periods of 10 ms, in milliseconds; `late99` and
  /// `late999` are its 99th and 99.9th percentiles.
  package var lateMedian = 0.0
  package var late99 = 0.0
  package var late999 = 0.0

  package init(calls: Int) {
    self.calls = calls
  }

  package var line: String {
    String(
      format:
        "%3d calls: %.2f ms/s of processor and %.2f MB each; late: median %.2f ms, 99 %% %.2f, "
        + "99.9 %% %.2f (half a frame is 10); %.1f %% came back",
      calls,
      processorMilliseconds,
      megabytes,
      lateMedian,
      late99,
      late999,
      100 * echoedShare
    )
  }
}

/// Costs of all numbers of calls, written as JSON and a chart.
package struct ScaleReport: Codable {
  package var date = Date()
  package var machine = Machine()
  package var complexity: Int
  package var rows: [ScaleRow] = []

  package init(complexity: Int) {
    self.complexity = complexity
  }

  /// The section of the results page.
  package var section: String {
    """
    ## Many calls

    `bench scale`: callers with recorded voices, and an echo server that decodes, conceals,
    time-stretches and encodes (complexity \(complexity), packets of 20 ms), on the same cores.
    \(LatencyReport.ran(date, machine))

    \(rows.map { "- " + $0.line }.joined(separator: "\n"))

    ![Cost and lateness by number of calls](scale.svg)
    """
  }

  /// Writes `scale.json` and `scale.svg`.
  package func write(to folder: URL) throws {
    try ResultFile.write(self, named: "scale", to: folder)
    let chart = Chart(
      title: "Echo calls on \(machine.cores) cores",
      horizontal: Axis("calls at a time", range: 0...10),
      vertical: Axis("per call and second, or late (ms)", range: 0...10),
      series: [
        .init(
          "processor time per call",
          rows.map { Point(x: Double($0.calls), y: $0.processorMilliseconds) }
        ),
        .init("late, 99.9th percentile", rows.map { Point(x: Double($0.calls), y: $0.late999) }),
        .init("late, median", rows.map { Point(x: Double($0.calls), y: $0.lateMedian) }),
      ]
    )
    try chart.svg().write(
      to: folder.appendingPathComponent("scale.svg"),
      atomically: true,
      encoding: .utf8
    )
  }
}
