import CTerminal
import Foundation
import MediaCore
import RealTime
import SidetonePhone

/// The screen of a session, on a terminal that can move its cursor.
///
/// It holds no decisions: `ScreenState` draws. **Life cycle:** shows the terminal's alternate
/// screen between `begin` and `end`. **Thread safety:** one task.
final class ScreenDisplay: CallDisplay {
  let ticksPerSecond = 10
  private let terminal: Terminal
  private let announcesAddresses: Bool
  private let start = MonotonicClock.now()
  private var state: ScreenState
  private var shown: ScreenPicture?
  private var isOn = false
  private var summary: String?

  /// Number of the last events that stay on the usual screen after `end`.
  private static let remainingNotes = 4

  /// Creates a display; nil unless the program is in the foreground of a terminal of at least 40 by
  /// 10 characters that can move its cursor.
  init?(_ terminal: Terminal, announcesAddresses: Bool) {
    let environment = ProcessInfo.processInfo.environment
    guard terminal.isInForeground, !["", "dumb"].contains(environment["TERM"] ?? ""),
      let size = Self.size, size.columns >= 40, size.rows >= 10
    else { return nil }
    self.terminal = terminal
    self.announcesAddresses = announcesAddresses
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }
      .first { !$0.isEmpty }
    let coding = locale?.lowercased() ?? ""
    state = ScreenState(isUnicode: coding.contains("utf-8") || coding.contains("utf8"))
  }

  private static var size: (columns: Int, rows: Int)? {
    var columns: CInt = 0
    var rows: CInt = 0
    guard unsafe terminal_size(STDOUT_FILENO, &columns, &rows) else { return nil }
    return (Int(columns), Int(rows))
  }

  private var now: Double { Double(MonotonicClock.now().nanoseconds(since: start)) / 1e9 }

  func begin() {
    terminal.begin()
    isOn = true
    // The other screen, without a cursor.
    write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J")
    draw()
  }

  func end() {
    guard leave() else { return }
    for note in state.history.notes.suffix(Self.remainingNotes) { terminal.say(note.text) }
    if let summary { terminal.say("  " + summary) }
  }

  func show(_ event: PhoneEvent) {
    let text = EventPrinter.text(
      of: event,
      namesKeys: false,
      announcesAddresses: announcesAddresses
    )
    state.note(event, saying: text, at: now)
    if case .incoming = event { write("\u{7}") }
    draw()
  }

  func show(_ statistics: CallStatistics?, isWholeSecond: Bool) {
    state.note(statistics, isWholeSecond: isWholeSecond, at: now)
    // Not every shell says by SIGCONT that the terminal is back.
    if isOn { draw() } else { redraw() }
  }

  func show(_ session: CallSessionState) {
    state.note(session)
    draw()
  }

  func show(typed text: String?) {
    state.note(typed: text)
    draw()
  }

  func showSummary(_ statistics: CallStatistics) { summary = EventPrinter.line(statistics) }

  func redraw() {
    shown = nil
    // Back from the background.
    if !isOn, terminal.isInForeground { return begin() }
    if isOn { terminal.begin() }
    draw()
  }

  func suspend() { _ = leave() }

  private func leave() -> Bool {
    guard isOn else { return false }
    isOn = false
    write("\u{1B}[?25h\u{1B}[?1049l")
    terminal.end()
    return true
  }

  private func draw() {
    guard isOn, let size = Self.size else { return }
    let picture = state.picture(columns: size.columns, rows: size.rows)
    write(picture.update(from: shown))
    shown = picture
  }

  private func write(_ text: String) {
    guard !text.isEmpty else { return }
    print(text, terminator: "")
    fflush(nil)
  }
}
