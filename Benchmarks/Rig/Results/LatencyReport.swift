import ProgramRig
import Drawing
package import Foundation

/// All trials, with their summary as a table, JSON and charts.
package struct LatencyReport: Codable {
  /// Time at which the report was begun, just before the first call.
  package var date = Date()
  /// Machine that the trials ran on.
  package var machine = Machine()
  /// Measured duration of each call, in seconds.
  package var seconds: Int
  /// Trials in the order in which they were made.
  package var trials: [TrialResult] = []

  package init(seconds: Int) {
    self.seconds = seconds
  }

  /// Returns a trial as one line of text.
  package static func line(of trial: TrialResult) -> String {
    let directions = trial.directions.map { direction in
      let percentiles = Percentiles(direction.delays)
      let delay = String(
        format: "%@ %.1f (%.1f to %.1f) ms, %.1f ms/min",
        direction.name,
        percentiles.median,
        percentiles(0.05),
        percentiles(0.95),
        direction.drift
      )
      // A short call may hold no whole sentence of a side.
      guard !direction.pesq.isEmpty else { return delay + ", PESQ not known" }
      return delay + String(format: ", PESQ %.2f", Percentiles(direction.pesq).median)
    }
    let withoutJack = trial.sharesWithoutJack.map { shares in
      shares.map { String(format: "%.2f", 100 * $0) }.joined(separator: " and ")
    }
    let cost = String(
      format: "processor %.2f and %.2f %%, without libjack %@ %%, memory %.0f and %.0f MB, "
        + "stalls of jackd %d, stolen %@ ms/s",
      100 * trial.processorShares[0],
      100 * trial.processorShares[1],
      withoutJack ?? "–",
      trial.peakMegabytes[0],
      trial.peakMegabytes[1],
      trial.stalls,
      stolen(from: [trial])
    )
    let first = Percentiles(trial.firstDelays).median
    let late = Percentiles(trial.lateDelays).median
    let lateName = trial.isShort ? "the second half" : "seconds 20 to 60"
    let beginning =
      first.isFinite
      ? [String(format: "seconds 1 to 3: %.1f ms, %@: %.1f ms", first, lateName, late)] : []
    let head = "\(trial.network), \(trial.program): " + (trial.isSetUp ? "" : "NOT SET UP ")
    return head + (directions + beginning + [cost]).joined(separator: "; ")
  }

  /// Trials grouped by program and network, in the order of the networks.
  private var groups: [[TrialResult]] {
    func networkIndex(_ group: [TrialResult]) -> Int {
      trials.firstIndex { $0.network == group[0].network } ?? 0
    }
    var order: [String] = []
    var groups: [String: [TrialResult]] = [:]
    for trial in trials {
      let key = trial.network + "/" + trial.program
      if groups[key] == nil { order.append(key) }
      groups[key, default: []].append(trial)
    }
    return order.compactMap { groups[$0] }.sorted { networkIndex($0) < networkIndex($1) }
  }

  /// Table in Markdown with one row for each program on each network.
  ///
  /// A row shows the call of median delay and, over all calls, their delays and the medians of the
  /// delay at the beginning, of the later delay and of the processor time.
  package var table: String {
    let late = trials.contains(where: \.isShort) ? "second half" : "seconds 20 to 60"
    let head = [
      "| Network | Program | set up | A to B (ms) | B to A (ms) | seconds 1 to 3 (ms) | "
        + "\(late) (ms) | drift (ms/min) | PESQ-WB | processor | without libjack | memory (MB) | "
        + "medians of all calls (ms) | stalls of jackd | stolen (ms/s) |",
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    return (head + groups.map(Self.row)).joined(separator: "\n")
  }

  private static func row(_ group: [TrialResult]) -> String {
    let sorted = group.sorted { $0.rank < $1.rank }
    let trial = sorted[sorted.count / 2]
    let delays = trial.directions.map { direction in
      let percentiles = Percentiles(direction.delays)
      return String(
        format: "%.1f (%.1f to %.1f)",
        percentiles.median,
        percentiles(0.05),
        percentiles(0.95)
      )
    }
    let parts = [group.flatMap(\.firstDelays), group.flatMap(\.lateDelays)].map { delays in
      delays.isEmpty ? "–" : String(format: "%.1f", Percentiles(delays).median)
    }
    let drifts = trial.directions.map { String(format: "%.1f", $0.drift) }
    let pesq = Percentiles(trial.directions.flatMap(\.pesq))
    let processor = [group.map(\.processorShares), group.compactMap(\.sharesWithoutJack)]
      .map { shares in
        let means = shares.map { 50 * $0.reduce(0, +) }
        return means.isEmpty ? "–" : String(format: "%.2f %%", Percentiles(means).median)
      }
    let score =
      pesq.count == 0 ? "–" : String(format: "%.2f (5 %% %.2f)", pesq.median, pesq(0.05))
    let cells: [String] = [
      trial.network, "`\(trial.program)`", "\(group.count { $0.isSetUp }) of \(group.count)",
      delays[0], delays[1], parts[0], parts[1], drifts.joined(separator: ", "), score,
      processor[0], processor[1],
      String(format: "%.0f", trial.peakMegabytes.reduce(0, +) / 2),
      group.map { String(format: "%.1f", $0.median) }.joined(separator: ", "),
      group.map { "\($0.stalls)" }.joined(separator: ", "), stolen(from: group),
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }

  // Milliseconds a second that the host of a virtual machine took in each call.
  private static func stolen(from group: [TrialResult]) -> String {
    let shares = group.compactMap(\.stolenShare).map { String(format: "%.1f", 1_000 * $0) }
    return shares.isEmpty ? "–" : shares.joined(separator: ", ")
  }

  /// The section of the results page, with its pictures.
  package var section: String {
    var networks: [String] = []
    for trial in trials where !networks.contains(trial.network) { networks.append(trial.network) }
    let pictures = networks.map { "![Delay against quality, \($0)](latency-\($0).svg)" }
    return """
      ## Calls of several programs

      `bench call`: each call measured for \(seconds) s, medians and 5 to 95 % of the chirps.
      Seconds 1 to 3 are compared with the later ones of the same directions, since a direction is
      measured five of ten seconds. Processor and memory are the mean of both ends, for each second
      of call, the second time without the threads that libjack adds to each program. "Stolen" is
      the time that the host took from this virtual machine while it had work. "direct" is the
      loopback interface; the others are emulated from a seed.
      \(Self.ran(date, machine))

      \(table)

      \(pictures.joined(separator: "\n"))
      """
  }

  /// Returns a sentence with the date, the machine and the command of a measurement.
  package static func ran(_ date: Date, _ machine: Machine) -> String {
    "Measured on \(date.formatted(.iso8601.year().month().day())) on \(machine.processor), "
      + "\(machine.cores) cores, Linux \(machine.kernel)"
      + (machine.command.map { ", by `\($0)`." } ?? ".")
  }

  /// Writes `latency.json` and a chart for each network.
  package func write(to folder: URL) throws {
    try ResultFile.write(self, named: "latency", to: folder)
    for network in Set(trials.map(\.network)) {
      try quality(on: network).svg().write(
        to: folder.appendingPathComponent("latency-\(network).svg"),
        atomically: true,
        encoding: .utf8
      )
    }
  }

  private func quality(on network: String) -> Chart {
    Chart(
      title: "Delay against quality, network: \(network)",
      horizontal: Axis("mouth to ear, median of a call (ms)", range: 0...50),
      vertical: Axis("PESQ-WB, median of a call", range: 1...4.5),
      series: groups.filter { $0[0].network == network }.map { group in
        let points = group.filter(\.isSetUp).map { trial in
          Point(x: trial.median, y: Percentiles(trial.directions.flatMap(\.pesq)).median)
        }
        return Chart.Series(group[0].program, points, mark: .dots)
      }
    )
  }
}
