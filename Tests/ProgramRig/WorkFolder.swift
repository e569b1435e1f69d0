package import Foundation

/// A folder for the files of one benchmark; `remove` deletes a temporary one.
package struct WorkFolder {
  /// Location of the folder; a temporary one's path has no characters special to ALSA's or JACK's
  /// configuration.
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

  /// Deletes the folder if it is temporary.
  package func remove() {
    if isTemporary { try? FileManager.default.removeItem(at: url) }
  }
}
