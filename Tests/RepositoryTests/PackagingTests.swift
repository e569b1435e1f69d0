import Foundation
import Testing

/// Values that several files repeat because several programs read them.
struct PackagingTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func match(_ pattern: Regex<(Substring, Substring)>, in path: String) throws -> String {
    let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    return String(try #require(try pattern.firstMatch(in: text), "\(path)").output.1)
  }

  @Test func everythingNamesTheSameVersion() throws {
    let program = try match(
      /version: "([^"]+)"/,
      in: "Sources/Tools/CommandLine/SidetoneCommand.swift"
    )
    let package = try match(/sidetone \(([^)]+)\)/, in: "Packaging/debian/changelog")
    let store = try match(
      /release version="([^"]+)"/,
      in: "Packaging/org.sidetone.Sidetone.metainfo.xml"
    )
    #expect(program == package)
    #expect(program == store)
  }

  /// The Debian package's build dependencies are the libraries that the Makefile installs.
  @Test func packageIsBuiltWithWhatTheMakefileInstalls() throws {
    let installed = try match(/LIBRARIES := (.*)/, in: "Makefile")
    let declared = try match(
      /debhelper-compat \(= 13\),\n((?: .*,\n)+)/,
      in: "Packaging/debian/control"
    )
    let names = declared.split(whereSeparator: { " ,\n".contains($0) })
    #expect(Set(names) == Set(installed.split(separator: " ")))
  }

  /// The program's output names callers, and other users may read the journal.
  @Test func serviceKeepsCallersOutOfTheJournal() throws {
    #expect(try match(/\nStandardOutput=(.*)\n/, in: "Packaging/sidetone.service") == "null")
  }
}
