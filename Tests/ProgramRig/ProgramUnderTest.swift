package import Foundation

/// The program `sidetone` that tests start, and those beside it.
package enum ProgramUnderTest {
  /// SIDETONE_PROGRAM, or else what `swift build` left in this package; nil if it left nothing.
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

  /// True where a missing program is a failure and not a reason to skip.
  package static let isCI = ProcessInfo.processInfo.environment["CI"] != nil

  /// Whether tests that need packages are to run: where some are `missing`, they fail in CI and are
  /// skipped elsewhere.
  package static func canRun(_ tests: String, missing: String?) -> Bool {
    guard let missing else { return true }
    print("skipped: \(tests) need the packages \(missing)")
    return isCI
  }
}
