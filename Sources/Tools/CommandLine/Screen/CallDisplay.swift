import Localization
import SidetonePhone

/// Presentation of a session to its user: lines, JSON, or a screen.
protocol CallDisplay {
  /// Number of times a second that it takes figures.
  var ticksPerSecond: Int { get }

  /// Takes over the terminal, until `end`.
  func begin()

  /// Gives the terminal back.
  func end()

  /// Shows an event.
  func show(_ event: PhoneEvent)

  /// Shows the figures of the active call; nil if none is connected.
  ///
  /// `isWholeSecond` is true once a second.
  func show(_ statistics: CallStatistics?, isWholeSecond: Bool)

  /// Shows the present state of the calls.
  func show(_ state: CallSessionState)

  /// Shows a call's transfer target as far as it has been typed; nil once it is complete or
  /// cancelled.
  func show(typed text: String?)

  /// Shows the figures of a call that has ended.
  func showSummary(_ statistics: CallStatistics)

  /// Draws again: the terminal has another size, something else was written to it, or the program
  /// has it back.
  func redraw()

  /// Leaves the terminal to the shell until `redraw`, as the program is about to be stopped.
  func suspend()
}

/// Lines for people, or JSON.
extension EventPrinter: CallDisplay {
  var ticksPerSecond: Int { 1 }

  func begin() { terminal.begin() }

  func end() { terminal.end() }

  func show(_ event: PhoneEvent) { print(event) }

  func show(_ statistics: CallStatistics?, isWholeSecond: Bool) {
    terminal.resume()
    if let statistics, isWholeSecond { print(statistics) }
  }

  func show(_ state: CallSessionState) {}

  func show(typed text: String?) {
    guard let text else { return terminal.endLine() }
    terminal.show(typed: text, after: String(localized: "Transfer to: "))
  }

  func showSummary(_ statistics: CallStatistics) { printSummary(statistics) }

  func redraw() { terminal.begin() }

  func suspend() { terminal.end() }
}
