package import Foundation

/// The program `sidetone` that tests start, and a check for the packages that they need.
package enum ProgramUnderTest {
  /// The program at `SIDETONE_PROGRAM`, or else the one that `swift build` made in this package;
  /// nil if there is none.
  package static let url: URL? = {
    if let path = ProcessInfo.processInfo.environment["SIDETONE_PROGRAM"] {
      return URL(fileURLWithPath: path)
    }
    return ["release", "debug"].map { package.appendingPathComponent(".build/\($0)/sidetone") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }()

  /// The folder of this package.
  package static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardized

  /// True if no package is missing, so that tests that need it can run; otherwise notes them as
  /// skipped.
  ///
  /// `missing` has the names of the packages, with "root" if the right to make namespaces is
  /// missing; nil if nothing is.
  package static func canRun(missing: String?) -> Bool {
    if let missing { noteSkipped(missing) }
    return missing == nil
  }

  /// Prints that a test is skipped for lack of packages; `Scripts/recap.sh` reads these lines, and
  /// fails the run in CI.
  package static func noteSkipped(_ packages: String) {
    print("skipped for lack of: \(packages)")
  }
}
