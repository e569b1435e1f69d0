import ArgumentParser
import Foundation

/// Extent of the help: with `--help` what most users need, on one screen of 80 by 24 characters;
/// with `sidetone help COMMAND`, in manual pages and completions all of it.
enum HelpScreen {
  /// True if this run shows the short form.
  static let isShort = {
    let typed = ProcessInfo.processInfo.arguments.dropFirst()
    return typed.first != "help" && typed.contains { ["-h", "--help"].contains($0) }
  }()

  /// Returns the text of a command's help besides its options, or in the short form a pointer to
  /// the full help.
  ///
  /// It is for commands whose short form leaves something out; `command` is "" for the program
  /// itself.
  static func discussion(of command: String, _ text: String = "") -> String {
    isShort ? "All of it: sidetone help \(command)".trimmingCharacters(in: .whitespaces) : text
  }
}

extension ArgumentVisibility {
  /// Visibility of options that few users need: hidden in the short form.
  static var rare: ArgumentVisibility { HelpScreen.isShort ? .hidden : .default }
}
