import Foundation
import RealTime

/// The terminal that the program runs on: one live line, single keys, no echo.
///
/// **Life cycle:** `begin` changes the terminal's settings, `end` restores them; both do nothing if
/// standard input or output is no terminal.
final class Terminal {
  let isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
  let showsLiveLine: Bool
  private var saved: termios?
  private var hasLiveLine = false

  /// Creates the terminal of standard input and output; `showsLiveLine` is false for screen
  /// readers.
  init(showsLiveLine: Bool = true) {
    self.showsLiveLine = showsLiveLine && isatty(STDOUT_FILENO) == 1
  }

  /// Writes text and a line break to standard error, without other control characters; line breaks
  /// in the text are kept.
  static func printError(_ text: String) {
    writeError(plain(text, keeping: "\n") + "\n")
  }

  private static func writeError(_ text: String) {
    // A terminal that has gone, or a full disk, is no reason to end a call.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  /// Zero-width non-joiner and joiner.
  private static let joiners: [Unicode.Scalar] = ["\u{200C}", "\u{200D}"]

  /// Returns the text without characters that steer the terminal or disguise what is written, as a
  /// far side may have chosen it.
  static func plain(_ text: String, keeping kept: String = "") -> String {
    var plain = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator:
        plain.append(kept.unicodeScalars.contains(scalar) ? scalar : " ")
      case .format:
        // What turns the direction of writing goes; what joins letters and pictures stays.
        if Self.joiners.contains(scalar) { plain.append(scalar) }
      default:
        plain.append(scalar)
      }
    }
    return String(plain)
  }

  /// Writes a question to standard error, if there is a user to answer it.
  func ask(_ question: String) {
    if isatty(STDIN_FILENO) == 1 { Self.writeError(Self.plain(question)) }
  }

  /// Replaces the line that is being typed, if there is a user to see it.
  func show(typed text: String, after question: String) {
    guard isatty(STDIN_FILENO) == 1 else { return }
    Self.writeError("\r\u{1B}[K\(Self.plain(question + text))")
  }

  /// Ends the line that was typed.
  func endLine() {
    if isatty(STDIN_FILENO) == 1 { Self.writeError("\n") }
  }

  /// Reads a line without showing it; nil if there is none, or if `interrupt` comes first.
  func readSecret(until interrupt: WakeEvent) -> String? {
    var settings = termios()
    guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return readLine() }
    var hidden = settings
    hidden.c_lflag &= ~tcflag_t(ECHO)
    _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    defer {
      _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
      Self.writeError("\n")
    }
    var awaited = [STDIN_FILENO, interrupt.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    // A signal may end a wait.
    while unsafe poll(&awaited, 2, -1) < 1 {}
    return awaited[1].revents == 0 ? readLine() : nil
  }

  /// True if the program is interactive and in the foreground of its terminal.
  var isInForeground: Bool { isInteractive && tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Turns line buffering and echo off; also again, after the shell has had the terminal.
  func begin() {
    // A program in the background that touches the settings would be stopped.
    guard isInForeground else { return }
    var settings = termios()
    guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
    if saved == nil { saved = settings }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }

  /// Calls `begin` if it has no effect now: not every shell sends SIGCONT when it returns the
  /// terminal.
  func resume() { if saved == nil { begin() } }

  /// Restores the terminal.
  func end() {
    clearLiveLine()
    guard var settings = saved else { return }
    _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    saved = nil
  }

  /// Prints a line of its own, above the live line; rings the terminal's bell if it is urgent.
  func say(_ text: String, isUrgent: Bool = false) {
    clearLiveLine()
    print((isUrgent ? "\u{7}" : "") + Self.plain(text))
    flush()
  }

  /// Shows `text` in place of the last live line.
  func refresh(_ text: String) {
    guard showsLiveLine else { return }
    print("\r\u{1B}[K" + text, terminator: "")
    flush()
    hasLiveLine = true
  }

  private func clearLiveLine() {
    guard hasLiveLine else { return }
    print("\r\u{1B}[K", terminator: "")
    hasLiveLine = false
    flush()
  }

  private func flush() {
    fflush(nil)
  }
}
