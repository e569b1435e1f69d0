import Drawing
import Foundation
import Histogram
import VoiceEngine

/// Time that packets spend in each stage from mouth to ear, gathered over a call.
struct StageBreakdown {
  private var histograms: [VoiceStage: Histogram<UInt64>] = [:]
  /// Look-ahead of the codec in nanoseconds, which is constant.
  var lookAheadNanoseconds: Int64 = 0

  /// Returns an empty histogram of nanoseconds, for up to a minute, to three digits.
  private static func histogram() -> Histogram<UInt64> {
    Histogram(highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: .three)
  }

  /// Adds times that the voice thread has noted.
  mutating func add(_ times: [StageTime]) {
    for time in times {
      histograms[time.stage, default: Self.histogram()].record(UInt64(time.nanoseconds))
    }
  }

  /// One row of the waterfall, in milliseconds.
  struct Row {
    let name: String
    let median: Double
    let percentile95: Double
    let percentile999: Double
    let highest: Double
  }

  /// Rows of the stages that were measured, in order.
  var rows: [Row] {
    var rows: [Row] = []
    for stage in VoiceStage.allCases {
      guard let histogram = histograms[stage] else { continue }
      func milliseconds(_ percentile: Double) -> Double {
        Double(histogram.valueAtPercentile(percentile)) / 1e6
      }
      let row = Row(
        name: Self.name(of: stage),
        median: milliseconds(50),
        percentile95: milliseconds(95),
        percentile999: milliseconds(99.9),
        highest: Double(histogram.max) / 1e6
      )
      rows.append(row)
      if stage == .encode { rows.append(lookAhead) }
    }
    return rows
  }

  private var lookAhead: Row {
    let constant = Double(lookAheadNanoseconds) / 1e6
    return Row(
      name: "codec's look-ahead",
      median: constant,
      percentile95: constant,
      percentile999: constant,
      highest: constant
    )
  }

  private static func name(of stage: VoiceStage) -> String {
    switch stage {
    case .packet: "packet's duration"
    case .capture: "wait for the microphone"
    case .processing: "rate conversion, filters"
    case .encode: "encode"
    case .send: "send"
    case .network: "network"
    case .playout: "playout's hold-back"
    case .decode: "decode"
    case .queue: "queue of decoded sound"
    case .fill: "loudspeaker's buffer"
    }
  }

  /// The waterfall as text, with a bar for each median.
  var text: String {
    let rows = rows
    let sum = rows.reduce(0) { $0 + $1.median }
    let width = 40.0
    var lines = [
      "stage".padding(toLength: 26, withPad: " ", startingAt: 0)
        + "  median     95 %   99.9 %  highest (ms)"
    ]
    var position = 0.0
    for row in rows {
      let begin = Int((position / max(sum, 1e-9) * width).rounded())
      position += row.median
      let end = Int((position / max(sum, 1e-9) * width).rounded())
      let numbers = String(
        format: "%8.3f %8.3f %8.3f %8.3f  ",
        row.median,
        row.percentile95,
        row.percentile999,
        row.highest
      )
      let bar = String(repeating: " ", count: begin) + String(repeating: "#", count: end - begin)
      lines.append(
        row.name.padding(toLength: 26, withPad: " ", startingAt: 0) + numbers
          + (end == begin ? String(repeating: " ", count: begin) + "|" : bar)
      )
    }
    lines.append(
      "sum of the medians".padding(toLength: 26, withPad: " ", startingAt: 0)
        + String(format: "%8.3f", sum)
    )
    return lines.joined(separator: "\n")
  }

  /// The waterfall as SVG.
  var svg: String {
    Waterfall(
      title: "From mouth to ear, medians",
      axis: Axis("time (ms)"),
      stages: rows.map { Waterfall.Stage($0.name, $0.median) }
    ).svg()
  }

  /// Median, 95th and 99.9th percentile of each stage, in milliseconds.
  var fields: [String: JSONValue] {
    Dictionary(
      uniqueKeysWithValues: rows.map { row in
        let values: [String: JSONValue] = [
          "median": .number(row.median), "p95": .number(row.percentile95),
          "p999": .number(row.percentile999),
        ]
        return (row.name, .object(values))
      }
    )
  }
}
