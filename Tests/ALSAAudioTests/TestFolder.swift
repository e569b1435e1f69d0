import Foundation

/// A folder of a test's own, gone with it.
final class TestFolder {
  private let url = FileManager.default.temporaryDirectory
    .appendingPathComponent("sidetone-alsa-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // The temporary directory is removed after all tests.
    try? FileManager.default.removeItem(at: url)
  }

  var path: String { url.path }

  /// Writes a file and returns its path.
  func write(_ bytes: [UInt8], as name: String) throws -> String {
    let file = url.appendingPathComponent(name)
    try Data(bytes).write(to: file)
    return file.path
  }
}
