package import Foundation

/// A new folder for the files of one benchmark, gone with `remove`.
package struct WorkFolder {
  /// Where it is; the path has no characters that ALSA's or JACK's configuration would mind.
  package let url: URL
  private let isTemporary: Bool

  /// The folder at `path`, which stays, or a temporary one if that is nil.
  package init(keeping path: String? = nil) throws {
    isTemporary = path == nil
    url =
      path.map { URL(fileURLWithPath: $0) }
      ?? FileManager.default.temporaryDirectory
      .appendingPathComponent("sidetone-bench-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  /// Takes a temporary folder away.
  package func remove() {
    if isTemporary { try? FileManager.default.removeItem(at: url) }
  }
}
