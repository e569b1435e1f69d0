import Foundation

/// A call directory extension, as its manifest describes it.
///
/// The manifest is a JSON object with `identifier`, `executable` (absolute, or relative to the
/// manifest) and `name`.
struct DirectoryExtension: Codable, Equatable {
  let identifier: String
  let executable: String
  let name: String?

  /// Returns all extensions of this app and of this user, in the order of their identifiers.
  static func all(dataFolder: URL) -> [DirectoryExtension] {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let folders = [
      program.deletingLastPathComponent().appendingPathComponent("Extensions"),
      dataFolder.appendingPathComponent("extensions"),
    ]
    return folders.flatMap { manifests(in: $0) }.sorted { $0.identifier < $1.identifier }
  }

  private static func manifests(in folder: URL) -> [DirectoryExtension] {
    // A folder that is not there has no extensions.
    let files =
      (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil))
      ?? []
    return files.filter { $0.pathExtension == "json" }.compactMap { file in
      // A manifest that makes no sense is no extension; the list that the user sees lacks it.
      guard let data = try? Data(contentsOf: file),
        let found = try? JSONDecoder().decode(DirectoryExtension.self, from: data)
      else { return nil }
      let path =
        found.executable.hasPrefix("/")
        ? found.executable : folder.appendingPathComponent(found.executable).path
      return DirectoryExtension(identifier: found.identifier, executable: path, name: found.name)
    }
  }
}
