import Foundation

/// A terminal with one program in it: tmux's, which tells what it shows.
///
/// **Life cycle:** open from the initialiser until `deinit`, also after the program has ended.
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

  /// What it shows.
  ///
  /// Nothing, should tmux have failed.
  package var text: String { (try? tmux(["capture-pane", "-p"])) ?? "" }

  /// Presses a key, by tmux's name of it.
  package func press(_ key: String) throws { _ = try tmux(["send-keys", key]) }

  /// Gives it another size.
  package func resize(columns: Int, rows: Int) throws {
    _ = try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  /// Waits until it shows something; false if that does not come.
  package func shows(_ text: String) -> Bool {
    Patience.waits { self.text.contains(text) }
  }
}
