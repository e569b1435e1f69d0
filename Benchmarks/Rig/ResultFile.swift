package import Foundation

/// A benchmark's results on disk, as JSON.
package enum ResultFile {
  /// Default folder of results, which is not under version control: the tree keeps only the results
  /// page.
  package static let folder = ".build/results"

  /// Help text of the option whose value `folder(_:isWhole:)` takes.
  package static let help = "Where the results go. Default: \(folder); nowhere for a part."

  /// Returns the folder `asked`, or else the default one if `isWhole`; nil if neither holds.
  ///
  /// Results of some networks or programs alone have no default, as they must not overwrite the
  /// complete ones.
  package static func folder(_ asked: String?, isWhole: Bool) -> URL? {
    (asked ?? (isWhole ? folder : nil)).map { URL(fileURLWithPath: $0) }
  }

  /// Reads `name.json` from `folder`; nil if there is no such file.
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

  /// Writes `name.json` to `folder`, which is created if it is missing.
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
