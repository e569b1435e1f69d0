import Drawing
import CallSecurity
import Foundation
import MediaCore
import SidetonePhone
import VoiceEngine

/// One HTML page about a session's calls: what happened, delay by stage over time, losses, devices.
///
/// It loads nothing: its charts are SVG inside the page, which forbids the browser to fetch.
struct CallReport {
  /// What is reported.
  let history: CallHistory
  /// When the session began.
  let begin: Date
  /// The program's version.
  let version: String

  /// The page.
  var html: String {
    let title = "Call with \(history.calls.last?.farSide ?? "nobody")".escapedForMarkup
    let parts =
      [head(title), "<h1>\(title)</h1>"] + history.calls.map(section)
      + [charts, timeline, "<footer>sidetone \(version)</footer>", "</body>", "</html>", ""]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private func head(_ title: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'">
    <title>\(title)</title>
    <style>
    body { font: 15px/1.5 Helvetica, Arial, sans-serif; color: #222; }
    body { max-width: 60em; margin: 2em auto; padding: 0 1em; }
    h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
    table { border-collapse: collapse; }
    th, td { text-align: left; padding: 2px 1.5em 2px 0; vertical-align: top; }
    th { font-weight: normal; color: #555; }
    figure { margin: 1em 0; } svg { max-width: 100%; height: auto; }
    footer { margin-top: 3em; color: #777; }
    </style>
    </head>
    <body>
    """
  }

  // MARK: Calls

  private func section(_ call: CallHistory.Call) -> String {
    var rows = [
      (call.isIncoming ? "caller" : "called", call.farSide),
      ("began", Self.date(begin.addingTimeInterval(call.connectedAt ?? call.endedAt ?? 0))),
      ("lasted", duration(of: call)),
      ("ended", call.ending ?? "goes on"),
      ("protection", call.protection?.remark ?? "not known"),
    ]
    if let statistics = call.statistics { rows += figures(statistics) }
    rows += [
      ("microphone", history.devices.microphone), ("loudspeaker", history.devices.loudspeaker),
    ]
    return "<h2>\(call.farSide.escapedForMarkup)</h2>\n" + table(rows.filter { !$0.1.isEmpty })
  }

  private func table(_ rows: [(String, String)]) -> String {
    let cells = rows.map { name, value in
      "<tr><th scope=\"row\">\(name.escapedForMarkup)</th>"
        + "<td>\(value.escapedForMarkup)</td></tr>"
    }
    return "<table>\n\(cells.joined(separator: "\n"))\n</table>"
  }

  private func duration(of call: CallHistory.Call) -> String {
    guard let from = call.connectedAt else { return "was not connected" }
    let last = call.endedAt ?? history.moments.last?.second ?? from
    return EventPrinter.clock(last - from)
  }

  private func figures(_ statistics: CallStatistics) -> [(String, String)] {
    let stream = statistics.stream
    let expected = max(1, stream.packetsReceived + stream.packetsLost)
    let played = max(1, stream.decodedFrames + stream.concealedFrames + stream.recoveredFrames)
    func percent(_ part: Int64, of whole: Int64) -> String {
      String(format: "%.2f %%", 100 * Double(part) / Double(whole))
    }
    return [
      ("packets sent", "\(stream.packetsSent), of \(Double(stream.packetFrames) / 48) ms at last"),
      ("packets received", "\(stream.packetsReceived)"),
      ("packets lost", "\(stream.packetsLost), \(percent(stream.packetsLost, of: expected))"),
      ("packets too late", "\(stream.packetsLate)"),
      ("recovered by redundancy", percent(stream.recoveredFrames, of: played)),
      ("concealed", percent(stream.concealedFrames, of: played)),
      (
        "faults of the sound card",
        "\(statistics.engine.overruns) of the microphone, \(statistics.engine.underruns) of the "
          + "loudspeaker"
      ),
      ("real-time scheduling", statistics.isRealTime ? "yes" : "no, the system denied it"),
    ]
  }

  // MARK: Charts

  private typealias Stage = DelayStages.Stage

  private var charts: String {
    guard history.moments.count > 1 else { return "" }
    return """
      <h2>From the far side's mouth to this side's ear</h2>
      <p>The far side's microphone, packets and codec are taken to be like this side's, and the
      network to be half of the round trip.</p>
      \(figure(delayChart.svg(), "Delay by stage over time"))
      \(figure(waterfall.svg(), "Median delay of each stage"))
      <h2>What the network did</h2>
      \(figure(lossChart.svg(), "Loss and concealment over time"))
      \(figure(networkChart.svg(), "Jitter and round trip over time"))
      <h2>Levels</h2>
      \(figure(levelChart.svg(), "Levels of microphone and loudspeaker over time"))
      """
  }

  private func figure(_ svg: String, _ label: String) -> String {
    "<figure role=\"img\" aria-label=\"\(label)\">\n\(svg)</figure>"
  }

  /// Sums up to each stage, the last one first, so that each covers the one behind it.
  private var delayChart: Chart {
    let series = Stage.allCases.reversed().map { stage in
      Chart.Series(
        stage.name,
        points { moment in
          Stage.allCases.prefix(stage.rawValue + 1).reduce(0) { $0 + moment.stages[$1] }
        },
        mark: .area
      )
    }
    return chart("Delay by stage", "ms", series, least: 0...10)
  }

  private var waterfall: Waterfall {
    Waterfall(
      title: "Medians",
      axis: Axis("time (ms)"),
      stages: Stage.allCases.map { stage in
        let sorted = history.moments.map { $0.stages[stage] }.sorted()
        return Waterfall.Stage(stage.name, sorted[sorted.count / 2])
      }
    )
  }

  private var lossChart: Chart {
    chart(
      "Lost and concealed",
      "%",
      [
        Chart.Series("packets lost", differences { $0.lossPercent(since: $1) }),
        Chart.Series("sound concealed", differences { $0.concealedPercent(since: $1) }),
      ],
      least: 0...1
    )
  }

  private var networkChart: Chart {
    func milliseconds(_ nanoseconds: Int64) -> Double {
      nanoseconds < 0 ? .nan : Double(nanoseconds) / 1e6
    }
    return chart(
      "Jitter and round trip",
      "ms",
      [
        Chart.Series("jitter", points { milliseconds($0.statistics.stream.jitterNanoseconds) }),
        Chart.Series(
          "round trip",
          points { milliseconds($0.statistics.stream.roundTripNanoseconds) }
        ),
      ],
      least: 0...1
    )
  }

  private var levelChart: Chart {
    chart(
      "Peaks",
      "dB below full scale",
      [
        Chart.Series(
          "microphone",
          points { EventPrinter.decibels($0.statistics.engine.inputPeak) }
        ),
        Chart.Series(
          "loudspeaker",
          points { EventPrinter.decibels($0.statistics.stream.outputPeak) }
        ),
      ],
      least: -60...0
    )
  }

  private func chart(
    _ title: String,
    _ unit: String,
    _ series: [Chart.Series],
    least: ClosedRange<Double>
  ) -> Chart {
    Chart(
      title: title,
      horizontal: Axis("time since the start (s)"),
      vertical: Axis(unit, range: least),
      series: series
    )
  }

  // A gap separates calls, and the time of a hold.
  private func points(_ value: (CallHistory.Moment) -> Double) -> [Point] {
    pairs.flatMap { earlier, later -> [Point] in
      let point = Point(x: later.second, y: max(-60, value(later)))
      return Self.belong(earlier, later) ? [point] : [Point(x: later.second, y: .nan), point]
    }
  }

  private func differences(
    _ value: (CallHistory.Moment, CallHistory.Moment) -> Double
  ) -> [Point] {
    pairs.map { earlier, later in
      Point(x: later.second, y: Self.belong(earlier, later) ? value(later, earlier) : .nan)
    }
  }

  private var pairs: Zip2Sequence<[CallHistory.Moment], ArraySlice<CallHistory.Moment>> {
    zip(history.moments, history.moments.dropFirst())
  }

  private static func belong(_ earlier: CallHistory.Moment, _ later: CallHistory.Moment) -> Bool {
    earlier.call == later.call
  }

  // MARK: What happened

  private var timeline: String {
    guard !history.notes.isEmpty else { return "" }
    return "<h2>What happened</h2>\n"
      + table(history.notes.map { (EventPrinter.clock($0.second), $0.text) })
  }

  private static func date(_ date: Date) -> String {
    let format = DateFormatter()
    format.dateFormat = "yyyy-MM-dd HH:mm:ss"
    return format.string(from: date)
  }
}
