import CallSecurity
import Foundation
import Localization
import SidetonePhone
import VoiceEngine

/// Contents of a session's screen, as a value: everything comes in as events with their time, and
/// `picture` draws it for any size.
struct ScreenState {
  /// Events of the session, and figures of its calls over time.
  private(set) var history = CallHistory()
  /// Latest state of the calls; nil before the first.
  private var session: CallSessionState?
  private var typed: String?
  private var statistics: CallStatistics?
  private var microphone = LevelMeter()
  private var loudspeaker = LevelMeter()
  private var farHolds: Set<UUID> = []
  private var isConference = false
  private var addresses: [String] = []
  private var now = 0.0
  /// Figures of each of the last seconds, the newest last.
  private var seconds: [Second] = []
  /// False on terminals that cannot show more than ASCII.
  let isUnicode: Bool

  private struct Second: Equatable {
    var delay: Double?
    var loss: Double?
    var jitter: Double?
  }

  private static let chartSeconds = 60

  init(isUnicode: Bool) {
    self.isUnicode = isUnicode
  }

  // MARK: What comes in

  mutating func note(_ event: PhoneEvent, saying text: String?, at second: Double) {
    now = second
    history.note(event, saying: text, at: second)
    switch event {
    case .registered(let addresses): self.addresses = addresses
    case .heldByFarSide(let call): farHolds.insert(call)
    case .resumedByFarSide(let call): farHolds.remove(call)
    case .joined: isConference = true
    case .separated: isConference = false
    case .ended(let call, _):
      farHolds.remove(call)
      if statistics?.call == call { statistics = nil }
    default: break
    }
  }

  mutating func note(_ state: CallSessionState) {
    session = state
    if state.lines.count < 2 { isConference = false }
  }

  mutating func note(typed text: String?) { typed = text }

  /// Takes in new figures, several times a second; `isWholeSecond` moves the charts.
  mutating func note(_ new: CallStatistics?, isWholeSecond: Bool, at second: Double) {
    now = second
    if let new {
      microphone.note(EventPrinter.decibels(new.engine.inputPeak), at: second)
      loudspeaker.note(EventPrinter.decibels(new.stream.outputPeak), at: second)
      statistics = new
    }
    guard isWholeSecond else { return }
    // During a hold nothing flows.
    if new == nil { statistics = nil }
    let before = history.moments.last
    if let new { history.note(new, at: second) }
    var figures = Second()
    if let new, let moment = history.moments.last, moment.statistics == new {
      figures.delay = moment.stages.total
      figures.jitter = Double(new.stream.jitterNanoseconds) / 1e6
      if let before, before.call == new.call { figures.loss = moment.lossPercent(since: before) }
    }
    seconds.append(figures)
    if seconds.count > Self.chartSeconds { seconds.removeFirst() }
  }

  // MARK: The picture

  /// Returns the picture for a terminal of the given size.
  func picture(columns: Int, rows: Int) -> ScreenPicture {
    let header = [title(columns), rule(columns)]
    let footer = [rule(columns)] + keys(columns)
    let calls = callLines(columns)
    let meters = meterLines(columns)
    let figures = figureLines(columns, rows: rows)
    let fixed = header.count + footer.count + calls.count + meters.count + figures.count
    let notes = noteLines(max(rows >= 12 ? 2 : 0, rows - fixed), columns)
    var body = calls + meters + figures + notes
    let room = max(0, rows - header.count - footer.count)
    // What is missing at the bottom is blank; what has no room is left out from there.
    body = Array(body.prefix(room))
    body += Array(repeating: ScreenPicture.Line(), count: room - body.count)
    let lines = Array((header + body + footer).prefix(max(0, rows)))
    return ScreenPicture(lines: lines.map { $0.cut(to: columns) })
  }

  private func title(_ columns: Int) -> ScreenPicture.Line {
    var line = ScreenPicture.Line(.init(" sidetone ", .inverse))
    line.append("  ")
    if history.calls.isEmpty, !addresses.isEmpty {
      let places = addresses.map { "sip:\($0)" }.joined(separator: ", ")
      line.append(String(localized: "waits for calls at \(places)"))
    } else if session?.lines.isEmpty ?? true {
      line.append(String(localized: "waits for calls"))
    }
    return line
  }

  private func rule(_ columns: Int) -> ScreenPicture.Line {
    ScreenPicture.Line(.init(String(repeating: isUnicode ? "─" : "-", count: columns), .faint))
  }

  // MARK: Calls

  private func callLines(_ columns: Int) -> [ScreenPicture.Line] {
    (session?.lines ?? []).flatMap { line -> [ScreenPicture.Line] in
      guard let call = history.calls.last(where: { $0.uuid == line.call }) else { return [] }
      var first = ScreenPicture.Line(.init(line.isRinging ? "! " : "  ", .warning))
      let state = state(of: line, call)
      let room = max(10, columns - state.terminalColumns - 4)
      first.append(Terminal.plain(call.farSide).cut(toTerminalColumns: room), .strong)
      first.pad(to: columns - state.terminalColumns - 1)
      first.append(state, line.isRinging ? .inverse : .plain)
      return [first] + protectionLines(call, columns)
    }
  }

  private func state(of line: CallSessionState.Line, _ call: CallHistory.Call) -> String {
    if line.isRinging { return String(localized: "is calling") }
    guard line.isConnected, let since = call.connectedAt else {
      return String(localized: "is being called")
    }
    let time = EventPrinter.clock(now - since)
    var words: [String] = []
    if line.isHeld { words.append(String(localized: "on hold")) }
    if farHolds.contains(line.call) { words.append(String(localized: "holds you")) }
    if line.isMuted { words.append(String(localized: "MUTED")) }
    if line.isRecorded { words.append(String(localized: "RECORDING")) }
    if isConference { words.append(String(localized: "conference")) }
    if words.isEmpty { words = [String(localized: "talking")] }
    return words.joined(separator: ", ") + "  " + time
  }

  private func protectionLines(
    _ call: CallHistory.Call,
    _ columns: Int
  ) -> [ScreenPicture.Line] {
    guard let protection = call.protection else { return [] }
    guard case .encrypted(let encryption, let standing) = protection else {
      let warning = String(localized: "NOT ENCRYPTED: everybody on the way can listen")
      return [.init(.init("  \(warning)", .warning))]
    }
    var pieces = [[ScreenPicture.Span("  ")]]
    let remark = String(localizedReason: protection.remark)
    if standing != .verified, let shown = encryption.words {
      pieces += words(of: String(localized: "\(remark); compare the words:"))
      pieces += words(of: shown.joined(separator: " "), .strong)
    } else {
      pieces += words(of: remark)
    }
    return wrap(pieces, columns, indent: 2)
  }

  // MARK: Levels and figures

  private func meterLines(_ columns: Int) -> [ScreenPicture.Line] {
    guard let statistics else { return [] }
    let names = [String(localized: "mic"), String(localized: "ear")]
    let nameWidth = names.map(\.terminalColumns).max() ?? 0
    let width = max(10, min(60, columns - 21 - nameWidth))
    func meter(_ name: String, _ meter: LevelMeter, _ remark: String) -> ScreenPicture.Line {
      let bar = meter.bar(
        width,
        full: isUnicode ? "█" : "#",
        empty: isUnicode ? "░" : ".",
        mark: isUnicode ? "┃" : "|"
      )
      let level =
        meter.level <= LevelMeter.floor
        ? String(localized: "silent") : "\(Int(meter.level.rounded())) dB"
      let title = name.padded(toTerminalColumns: nameWidth)
      var line = ScreenPicture.Line(.init("  \(title)  "), .init(bar), .init("  \(level)"))
      if !remark.isEmpty { line.append("  \(remark)", .warning) }
      return line
    }
    return [
      ScreenPicture.Line(),
      meter(names[0], microphone, statistics.isMuted ? String(localized: "MUTED") : ""),
      meter(names[1], loudspeaker, ""),
      ScreenPicture.Line(),
    ]
  }

  private func figureLines(_ columns: Int, rows: Int) -> [ScreenPicture.Line] {
    guard let statistics else { return [] }
    let stages = DelayStages(statistics)
    let sum = String(format: "%.1f ms ", stages.total)
    let title = String(localized: "mouth to ear")
    var pieces = [[ScreenPicture.Span("  \(title) "), .init(sum, .strong)]]
    for (index, stage) in DelayStages.Stage.allCases.enumerated() {
      let text = String(format: "%@ %.1f ", stage.name, stages[stage])
      pieces.append([.init(index == 0 ? "= " : "+ "), .init(text)])
    }
    var lines = wrap(pieces, columns, indent: 4)
    let width = max(10, min(Self.chartSeconds, columns - 20))
    let recent = Array(seconds.suffix(width))
    let padding = [Second?](repeating: nil, count: max(0, width - recent.count))
    let shown = padding + recent.map { Optional($0) }
    let height = rows >= 22 ? 4 : 2
    lines += chart(String(localized: "delay"), "ms", shown.map { $0?.delay }, least: 10, height)
    lines += chart(String(localized: "loss"), "%", shown.map { $0?.loss }, least: 5, 1)
    lines += chart(String(localized: "jitter"), "ms", shown.map { $0?.jitter }, least: 5, 1)
    return lines + [ScreenPicture.Line()]
  }

  private func chart(
    _ name: String,
    _ unit: String,
    _ values: [Double?],
    least: Double,
    _ rows: Int
  ) -> [ScreenPicture.Line] {
    let chart = RunningChart(values: values, leastTop: least)
    let newest = values.last.flatMap { $0 }.map { String(format: "%.1f", $0) } ?? "-"
    return chart.rows(rows, isUnicode: isUnicode).enumerated().map { index, row in
      var line = ScreenPicture.Line(.init("  "))
      if index == 0 { line.append("\(name) \(newest) \(unit)") }
      line.pad(to: 17)
      line.append(row)
      if index == 0 { line.append(String(format: " %g", chart.top), .faint) }
      return line
    }
  }

  /// Returns the pieces one after the other, in as many lines as they need, those after the first
  /// indented.
  ///
  /// A piece that is longer than a line, as in languages without spaces, goes on in the next one.
  private func wrap(
    _ pieces: [[ScreenPicture.Span]],
    _ columns: Int,
    indent: Int
  ) -> [ScreenPicture.Line] {
    let parts = pieces.flatMap { piece in
      Self.columns(of: piece) <= columns - indent
        ? [piece] : piece.flatMap { span in span.text.map { [.init(String($0), span.style)] } }
    }
    var lines = [ScreenPicture.Line()]
    for part in parts {
      let last = lines[lines.count - 1]
      if last.columns + Self.columns(of: part) > columns, last.columns > indent {
        lines.append(ScreenPicture.Line(.init(String(repeating: " ", count: indent))))
      }
      lines[lines.count - 1].spans += part
    }
    return lines
  }

  private static func columns(of piece: [ScreenPicture.Span]) -> Int {
    piece.reduce(0) { $0 + $1.text.terminalColumns }
  }

  private func words(
    of text: String,
    _ style: ScreenPicture.Style = .plain
  ) -> [[ScreenPicture.Span]] {
    text.split(separator: " ").map { [ScreenPicture.Span("\($0) ", style)] }
  }

  // MARK: Messages and keys

  private func noteLines(_ count: Int, _ columns: Int) -> [ScreenPicture.Line] {
    var lines: [ScreenPicture.Line] = []
    for note in history.notes.suffix(max(0, count)) {
      let stamp = EventPrinter.clock(note.second)
      let pieces =
        [[ScreenPicture.Span("  \(stamp)  ", .faint)]] + words(of: Terminal.plain(note.text))
      lines += wrap(pieces, columns, indent: 8)
    }
    return Array(lines.suffix(max(0, count)))
  }

  private func keys(_ columns: Int) -> [ScreenPicture.Line] {
    if let typed {
      let question = String(localized: "Transfer to: ")
      return [.init(.init("  \(question)", .strong), .init(Terminal.plain(typed) + "_"))]
    }
    let lines = session?.lines ?? []
    let hasHeld = lines.contains(where: \.isHeld)
    var keys: [(String, String)] = []
    if lines.contains(where: \.isRinging) {
      keys += [("a", String(localized: "answer")), ("d", String(localized: "decline"))]
      if lines.count > 1 { keys.append(("e", String(localized: "end and answer"))) }
    }
    if let active = session?.active, active.isConnected {
      keys += [
        ("m", active.isMuted ? String(localized: "unmute") : String(localized: "mute")),
        ("o", hasHeld ? String(localized: "swap") : String(localized: "hold")),
      ]
      if hasHeld { keys.append(("c", String(localized: "join"))) }
      let record = String(localized: "record")
      keys += [
        ("r", active.isRecorded ? String(localized: "stop recording") : record),
        ("t", String(localized: "transfer")), ("v", String(localized: "same words")),
        ("0-9*#", String(localized: "digits")),
      ]
    } else if hasHeld {
      keys.append(("o", String(localized: "resume")))
    }
    keys.append(
      lines.isEmpty
        ? ("Ctrl-C", String(localized: "end")) : ("h", String(localized: "hang up"))
    )
    let pieces = keys.map { key, meaning in
      [ScreenPicture.Span(" \(key)", .strong), .init(" \(meaning) ")]
    }
    return wrap([[.init(" ")]] + pieces, columns, indent: 1)
  }
}
