import Drawing
import CallSecurity
import Foundation
import Localization
import MediaCore
import SidetonePhone
import VoiceEngine

/// One HTML page about a session's calls: what happened, delay by stage over time, losses, devices.
///
/// The page is self-contained: its charts are inline SVG, and its security policy blocks requests.
struct CallReport {
  /// Calls, events and figures to report.
  let history: CallHistory
  /// Time at which the session began.
  let begin: Date
  /// The program's version.
  let version: String

  /// The page as HTML.
  var html: String {
    let farSide = history.calls.last?.farSide ?? String(localized: "none")
    let title = String(localized: "Call with \(farSide)").escapedForMarkup
    let parts =
      [head(title), "<h1>\(title)</h1>"] + history.calls.map(section)
      + [charts, timeline, "<footer>sidetone \(version)</footer>", "</body>", "</html>", ""]
    return parts.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private func head(_ title: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="\(String(localized: "en"))">
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
    let start = begin.addingTimeInterval(call.connectedAt ?? call.endedAt ?? 0)
    var rows = [
      (
        call.isIncoming ? String(localized: "caller") : String(localized: "called"), call.farSide
      ),
      (String(localized: "began"), Self.date(start)),
      (String(localized: "lasted"), duration(of: call)),
      (
        String(localized: "ended"),
        call.ending.map { String(localizedReason: $0) } ?? String(localized: "goes on")
      ),
      (
        String(localized: "protection"),
        String(localizedReason: call.protection?.remark ?? "not known")
      ),
    ]
    if let statistics = call.statistics { rows += figures(statistics, call.totals.counts) }
    rows += [
      (String(localized: "microphone"), history.devices.microphone),
      (String(localized: "loudspeaker"), history.devices.loudspeaker),
    ]
    return heading(call.farSide) + "\n" + table(rows.filter { !$0.1.isEmpty })
  }

  private func table(_ rows: [(String, String)]) -> String {
    let cells = rows.map { name, value in
      "<tr><th scope=\"row\">\(name.escapedForMarkup)</th>"
        + "<td>\(value.escapedForMarkup)</td></tr>"
    }
    return "<table>\n\(cells.joined(separator: "\n"))\n</table>"
  }

  private func duration(of call: CallHistory.Call) -> String {
    guard let from = call.connectedAt else { return String(localized: "was not connected") }
    let last = call.endedAt ?? history.moments.last?.second ?? from
    return EventPrinter.clock(last - from)
  }

  private func figures(
    _ statistics: CallStatistics,
    _ totals: CallTotals.Counts
  ) -> [(String, String)] {
    let expected = max(1, totals.packetsReceived + totals.packetsLost)
    let played = max(1, totals.decodedFrames + totals.concealedFrames + totals.recoveredFrames)
    func percent(_ part: Int64, of whole: Int64) -> String {
      String(format: "%.2f %%", 100 * Double(part) / Double(whole))
    }
    let length = Double(statistics.stream.packetFrames) / 48
    let (overruns, underruns) = (statistics.engine.overruns, statistics.engine.underruns)
    return [
      (
        String(localized: "packets sent"),
        String(localized: "\(totals.packetsSent), of \(length) ms at last")
      ),
      (String(localized: "packets received"), "\(totals.packetsReceived)"),
      (
        String(localized: "packets lost"),
        "\(totals.packetsLost), \(percent(totals.packetsLost, of: expected))"
      ),
      (String(localized: "packets too late"), "\(totals.packetsLate)"),
      (String(localized: "recovered by redundancy"), percent(totals.recoveredFrames, of: played)),
      (String(localized: "concealed"), percent(totals.concealedFrames, of: played)),
      (
        String(localized: "faults of the sound card"),
        String(localized: "\(overruns) of the microphone, \(underruns) of the loudspeaker")
      ),
      (
        String(localized: "real-time scheduling"),
        statistics.isRealTime
          ? String(localized: "yes") : String(localized: "no, the system denied it")
      ),
    ]
  }

  // MARK: Charts

  private typealias Stage = DelayStages.Stage

  private var charts: String {
    guard history.moments.count > 1 else { return "" }
    let remark: LocalizationValue = .init(
      localized: """
        The far side's microphone, packets and codec are taken to be like this side's, and the \
        network to be half of the round trip.
        """
    )
    return [
      heading(String(localized: "From the far side's mouth to this side's ear")),
      "<p>\(String(localized: remark).escapedForMarkup)</p>",
      figure(delayChart.svg(), String(localized: "Delay by stage over time")),
      figure(waterfall.svg(), String(localized: "Median delay of each stage")),
      heading(String(localized: "What the network did")),
      figure(lossChart.svg(), String(localized: "Loss and concealment over time")),
      figure(networkChart.svg(), String(localized: "Jitter and round trip over time")),
      heading(String(localized: "Levels")),
      figure(levelChart.svg(), String(localized: "Levels of microphone and loudspeaker over time")),
    ].joined(separator: "\n")
  }

  private func heading(_ text: String) -> String { "<h2>\(text.escapedForMarkup)</h2>" }

  private func figure(_ svg: String, _ label: String) -> String {
    "<figure role=\"img\" aria-label=\"\(label.escapedForMarkup)\">\n\(svg)</figure>"
  }

  /// Chart of the cumulative delay up to each stage, drawn from the last stage to the first, so
  /// that each area covers part of the one before.
  ///
  /// A stage has the colour that it has in the waterfall.
  private var delayChart: Chart {
    let series = Stage.allCases.reversed().map { stage in
      Chart.Series(
        stage.name,
        points { moment in
          Stage.allCases.prefix(stage.rawValue + 1).reduce(0) { $0 + moment.stages[$1] }
        },
        mark: .area,
        color: stage.rawValue
      )
    }
    return chart(String(localized: "Delay by stage"), "ms", series, least: 0...10)
  }

  private var waterfall: Waterfall {
    Waterfall(
      title: String(localized: "Medians"),
      axis: Axis(String(localized: "time (ms)")),
      stages: Stage.allCases.map { stage in
        let sorted = history.moments.map { $0.stages[stage] }.sorted()
        return Waterfall.Stage(stage.name, sorted[sorted.count / 2])
      }
    )
  }

  private var lossChart: Chart {
    chart(
      String(localized: "Lost and concealed"),
      "%",
      [
        Chart.Series(
          String(localized: "packets lost"),
          differences { $0.lossPercent(since: $1) }
        ),
        Chart.Series(
          String(localized: "sound concealed"),
          differences { $0.concealedPercent(since: $1) }
        ),
      ],
      least: 0...1
    )
  }

  private var networkChart: Chart {
    func milliseconds(_ nanoseconds: Int64) -> Double {
      nanoseconds < 0 ? .nan : Double(nanoseconds) / 1e6
    }
    return chart(
      String(localized: "Jitter and round trip"),
      "ms",
      [
        Chart.Series(
          String(localized: "jitter"),
          points { milliseconds($0.statistics.stream.jitterNanoseconds) }
        ),
        Chart.Series(
          String(localized: "round trip"),
          points { milliseconds($0.statistics.stream.roundTripNanoseconds) }
        ),
      ],
      least: 0...1
    )
  }

  private var levelChart: Chart {
    chart(
      String(localized: "Peaks"),
      String(localized: "dB below full scale"),
      [
        Chart.Series(
          String(localized: "microphone"),
          points { EventPrinter.decibels($0.statistics.engine.inputPeak) }
        ),
        Chart.Series(
          String(localized: "loudspeaker"),
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
      horizontal: Axis(String(localized: "time since the start (s)")),
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
    return heading(String(localized: "What happened")) + "\n"
      + table(history.notes.map { (EventPrinter.clock($0.second), $0.text) })
  }

  private static func date(_ date: Date) -> String {
    let format = DateFormatter()
    format.dateFormat = "yyyy-MM-dd HH:mm:ss"
    return format.string(from: date)
  }
}
