public import Foundation

/// A benchmark's results on disk, as JSON.
public enum ResultFile {
  /// Writes `name.json` in `folder`, which is made if it is missing.
  public static func write(_ results: some Encodable, named name: String, to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    encoder.dateEncodingStrategy = .iso8601
    try encoder.encode(results).write(to: folder.appendingPathComponent("\(name).json"))
  }
}
