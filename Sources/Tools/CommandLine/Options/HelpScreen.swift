import ArgumentParser
import Foundation

/// What help shows: with `--help` what most users need, on one screen of 80 by 24 characters; with
/// `sidetone help COMMAND`, in manual pages and completions all of it.
enum HelpScreen {
  /// True if this run shows the short form.
  static let isShort = {
    let typed = ProcessInfo.processInfo.arguments.dropFirst()
    return typed.first != "help" && typed.contains { ["-h", "--help"].contains($0) }
  }()

  /// What a command's help says besides its options, for a command of which the short form leaves
  /// something out; "" for the program itself.
  static func discussion(of command: String, _ text: String = "") -> String {
    isShort ? "All of it: sidetone help \(command)".trimmingCharacters(in: .whitespaces) : text
  }
}

extension ArgumentVisibility {
  /// For options that few users need.
  static var rare: ArgumentVisibility { HelpScreen.isShort ? .hidden : .default }
}
