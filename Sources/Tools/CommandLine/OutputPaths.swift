import Foundation
import Glibc
import Localization

/// Check of the files that a command writes, before it measures for minutes: they can be written,
/// and none of them is one that it reads, or writes for another purpose.
enum OutputPaths {
  /// Throws a `CommandFailure` if an output cannot be written, or is the same file as an input or
  /// another output.
  ///
  /// Each has the name of its option, and nil for a path that was not given. Devices and pipes are
  /// not checked.
  static func check(
    _ outputs: [(name: String, path: String?)],
    against inputs: [(name: String, path: String?)]
  ) throws {
    var known: [(name: String, file: String)] = inputs.compactMap { name, path in
      path.flatMap(identity).map { (name, $0) }
    }
    for (name, path) in outputs {
      guard let path else { continue }
      if let reason = obstacle(to: path) {
        throw CommandFailure("cannot write \"\(path)\": \(reason)")
      }
      guard let file = identity(of: path) else { continue }
      if let other = known.first(where: { $0.file == file }) {
        throw CommandFailure(reason: "\(name) would write over \(other.name): \"\(path)\"")
      }
      known.append((name, file))
    }
  }

  // The system's reason why a file cannot be written; nil if it can be.
  private static func obstacle(to path: String) -> String? {
    var status = stat()
    let isThere = unsafe stat(path, &status) == 0
    if isThere, status.st_mode & S_IFMT == S_IFDIR {
      return unsafe String(cString: strerror(EISDIR))
    }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let place = isThere ? path : folder
    guard unsafe access(place, isThere ? W_OK : W_OK | X_OK) != 0 else { return nil }
    return unsafe String(cString: strerror(errno))
  }

  // Nil for a device or a pipe.
  private static func identity(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      return URL(fileURLWithPath: path).standardizedFileURL.path
    }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    return "\(status.st_dev) \(status.st_ino)"
  }
}
