import Foundation
import Testing

/// What is written in several places because several programs read it.
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

  /// The package builds with what the Makefile installs.
  @Test func packageIsBuiltWithWhatTheMakefileInstalls() throws {
    let installed = try match(/LIBRARIES := (.*)/, in: "Makefile")
    let declared = try match(
      /debhelper-compat \(= 13\),\n((?: .*,\n)+)/,
      in: "Packaging/debian/control"
    )
    let names = declared.split(whereSeparator: { " ,\n".contains($0) })
    #expect(Set(names) == Set(installed.split(separator: " ")))
  }

  /// What the program prints names callers, and the journal may be read by others.
  @Test func serviceKeepsCallersOutOfTheJournal() throws {
    #expect(try match(/\nStandardOutput=(.*)\n/, in: "Packaging/sidetone.service") == "null")
  }
}
