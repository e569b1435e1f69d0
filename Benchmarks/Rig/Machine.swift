import Foundation

/// Machine and command of a benchmark run.
package struct Machine: Codable, Sendable {
  /// Model name of the processor; "unknown" if the kernel does not name it.
  package var processor: String
  /// Number of processor cores that programs may use.
  package var cores: Int
  /// Release of the kernel; "unknown" if it cannot be read.
  package var kernel: String
  /// Command that was run, with its arguments; nil in older results.
  package var command: String?

  /// Describes this machine and the running command.
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
