import Foundation

/// What a benchmark ran on.
package struct Machine: Codable, Sendable {
  /// The processor's name.
  package var processor: String
  /// How many of it programs may use.
  package var cores: Int
  /// The kernel's release.
  package var kernel: String
  /// What was run, with its arguments; nil in older results.
  package var command: String?

  /// This machine.
  package init() {
    let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = information.split(separator: "\n").first { $0.hasPrefix("model name") }
    processor =
      line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    cores = ProcessInfo.processInfo.activeProcessorCount
    let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
    kernel = release?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
    let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "").lastPathComponent
    command = ([program] + CommandLine.arguments.dropFirst()).joined(separator: " ")
  }
}
