package import Foundation

/// A benchmark's results on disk, as JSON.
package enum ResultFile {
  /// Where results go by default: out of the tree, which keeps the page alone.
  package static let folder = ".build/results"

  /// Help of the option that `folder(_:isWhole:)` takes.
  package static let help = "Where the results go. Default: \(folder); nowhere for a part."

  /// The folder that was asked for, or else the default one.
  ///
  /// Results of some networks or programs alone have no default: they must not take the place of
  /// all.
  package static func folder(_ asked: String?, isWhole: Bool) -> URL? {
    (asked ?? (isWhole ? folder : nil)).map { URL(fileURLWithPath: $0) }
  }

  /// Reads what `write` wrote; nil if there is no such file.
  package static func read<Results: Decodable>(
    _ type: Results.Type,
    named name: String,
    from folder: URL
  ) throws -> Results? {
    let file = folder.appendingPathComponent("\(name).json")
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf",
      negativeInfinity: "-inf",
      nan: "nan"
    )
    return try decoder.decode(type, from: Data(contentsOf: file))
  }

  /// Writes `name.json` in `folder`, which is made if it is missing.
  package static func write(_ results: some Encodable, named name: String, to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    encoder.dateEncodingStrategy = .iso8601
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf",
      negativeInfinity: "-inf",
      nan: "nan"
    )
    try encoder.encode(results).write(to: folder.appendingPathComponent("\(name).json"))
  }
}
