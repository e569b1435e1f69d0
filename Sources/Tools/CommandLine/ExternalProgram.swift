import Foundation
import Localization

/// A program of another package, found by `PATH`.
enum ExternalProgram {
  /// Runs a program to its end, and returns its output; throws if it is missing or reports a
  /// failure.
  @discardableResult
  static func run(_ name: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CommandFailure("\(name) failed") }
    return text
  }
}
