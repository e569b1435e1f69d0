import Foundation
import Localization

/// A program of another package, found by `PATH`.
enum ExternalProgram {
  /// Runs a program to its end, and returns its output; throws if it is missing or reports a
  /// failure.
  @discardableResult
  static func run(_ name: String, _ arguments: [String]) throws -> String {
    let (text, isWhole) = try output(of: name, arguments)
    guard isWhole else { throw CommandFailure("\(name) failed") }
    return text
  }

  /// Runs a program to its end, and returns what it has printed.
  ///
  /// `isWhole` is false if it is missing or reports a failure.
  static func output(
    of name: String,
    _ arguments: [String]
  ) throws -> (text: String, isWhole: Bool) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text, process.terminationStatus == 0)
  }
}
