import Localization
import SidetonePhone

/// What shows a session to its user: lines, JSON, or a screen.
protocol CallDisplay {
  /// How often a second it takes figures.
  var ticksPerSecond: Int { get }

  /// Takes the terminal, from now to `end`.
  func begin()

  /// Gives the terminal back.
  func end()

  /// Something has happened.
  func show(_ event: PhoneEvent)

  /// The figures of the active call, nil if none is connected; `isWholeSecond` once a second.
  func show(_ statistics: CallStatistics?, isWholeSecond: Bool)

  /// The calls are like this now.
  func show(_ state: CallSessionState)

  /// Whom to transfer a call to, as far as it has been typed; nil once that is complete.
  func show(typed text: String?)

  /// A call has ended, with these figures.
  func showSummary(_ statistics: CallStatistics)

  /// The terminal has another size, something else was written to it, or it is the program's again.
  func redraw()

  /// The program is about to be stopped, and leaves the terminal to the shell until `redraw`.
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
