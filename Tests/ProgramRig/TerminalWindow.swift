import Foundation

/// A terminal of tmux's with one program in it, whose screen can be read.
///
/// **Life cycle:** open from the initialiser until `deinit`, or a minute after the program's end.
package final class TerminalWindow {
  private let tmux: ([String]) throws -> String

  /// Opens a terminal; `tmux` runs tmux with the given arguments, and returns what it prints.
  ///
  /// Once the program has ended, the terminal shows its "exit status".
  package init(
    columns: Int,
    rows: Int,
    _ command: [String],
    by tmux: @escaping ([String]) throws -> String
  ) throws {
    self.tmux = tmux
    let quoted = command.map { "'\($0)'" }.joined(separator: " ")
    _ = try tmux(
      ["-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)"]
        + [
          "XDG_CONFIG_HOME=/proc/nonexistent LC_ALL=C.UTF-8 \(quoted); "
            + "echo exit status $?; sleep 60"
        ]
    )
  }

  deinit {
    _ = try? tmux(["kill-server"])
  }

  /// Text on the screen; empty if tmux failed.
  package var text: String { (try? tmux(["capture-pane", "-p"])) ?? "" }

  /// Presses a key, given by tmux's name for it.
  package func press(_ key: String) throws { _ = try tmux(["send-keys", key]) }

  /// Resizes the terminal.
  package func resize(columns: Int, rows: Int) throws {
    _ = try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  /// Waits until the screen shows a text; false if that does not happen in time.
  package func shows(_ text: String) -> Bool {
    Patience.waits { self.text.contains(text) }
  }
}
