import Foundation

/// Resources that a process holds at one moment.
package struct ProcessHoldings: Codable, Equatable, Sendable {
  /// Open files, sockets and the like.
  package var descriptors: Int
  /// Threads that run or wait.
  package var threads: Int
  /// Resident memory, in megabytes of 10^6 bytes.
  package var megabytes: Double

  /// Bytes in a page of memory.
  private static let pageBytes = 4_096.0

  /// Resources counted elsewhere; memory in pages of 4 KiB.
  package init(descriptors: Int, threads: Int, pages: Int) {
    self.descriptors = descriptors
    self.threads = threads
    megabytes = Double(pages) * Self.pageBytes / 1e6
  }

  /// Resources that a process of this machine holds now; throws if it has ended.
  package init(of process: Int32) throws {
    let folder = "/proc/\(process)"
    let statm = try String(contentsOfFile: "\(folder)/statm", encoding: .utf8)
    try self.init(
      descriptors: FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd").count,
      threads: FileManager.default.contentsOfDirectory(atPath: "\(folder)/task").count,
      pages: statm.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    )
  }
}
