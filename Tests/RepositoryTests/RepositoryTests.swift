import Foundation
import Testing

/// The rules of the house that neither compiler nor formatter checks.
struct RepositoryTests {
  private struct SourceFile {
    let path: String
    let lines: [String]
  }

  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func files(under folder: String) -> [SourceFile] {
    let base = root.appendingPathComponent(folder)
    let paths =
      FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
    return paths.filter { $0.hasSuffix(".swift") && !$0.contains(".build") }.compactMap { path in
      let url = base.appendingPathComponent(path)
      guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
      return SourceFile(
        path: "\(folder)/\(path)",
        lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      )
    }
  }

  private static let sources = files(under: "Sources")
  private static let tests = files(under: "Tests")

  @Test func thereAreSources() {
    #expect(Self.sources.count > 50)
  }

  @Test func filesStopAtFiveHundredLines() {
    for file in Self.sources + Self.tests { #expect(file.lines.count <= 500, "\(file.path)") }
  }

  @Test func layerTwoImportsMediaTimeAlone() {
    for module in ["RTP", "G711", "Playout", "CallState"] {
      for file in Self.files(under: "Sources/\(module)") {
        for line in file.lines where line.contains("import ") && !line.hasPrefix("//") {
          let imported = line.split(separator: " ").last ?? ""
          #expect(imported == "MediaTime", "\(file.path): \(line)")
        }
      }
    }
  }

  /// The layers of the modules, as the code map of ARCHITECTURE.md has them.
  private static func layers() throws -> [String: Int] {
    let map = try String(
      contentsOf: root.appendingPathComponent("ARCHITECTURE.md"),
      encoding: .utf8
    )
    var layers: [String: Int] = [:]
    for row in map.split(separator: "\n") where row.hasPrefix("| `") {
      let cells = row.split(separator: "|")
      guard cells.count >= 2 else { continue }
      let told = cells[1].filter { $0 != " " }
      // What has none is for the outermost alone.
      guard let layer = told == "–" ? 7 : Int(told) else { continue }
      for name in cells[0].split(separator: " ") {
        layers[name.filter { $0 != "`" }] = layer
      }
    }
    return layers
  }

  @Test func importsNeverPointUpwards() throws {
    let layers = try Self.layers()
    #expect(layers.count > 25 && layers["MediaTime"] == 1 && layers["Sidetone"] == 6)
    for file in Self.sources {
      let module = String(file.path.split(separator: "/")[1])
      guard file.path.hasPrefix("Sources/") else { continue }
      let own = try #require(layers[module], "\(module) is not in the code map")
      for line in file.lines where line.contains("import ") && !line.hasPrefix("//") {
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), place + 1 < words.count else { continue }
        let imported = layers[String(words[place + 1])] ?? own
        #expect(imported <= own, "\(file.path): \(line)")
      }
    }
  }

  @Test func eachCShimHasOneImporter() {
    for shim in ["CALSA", "COpus", "CSpeexDSP", "CRe", "CDBus", "CPcap"] {
      let importers = Self.sources.filter { $0.lines.contains("import \(shim)") }
        .map { $0.path.split(separator: "/")[1] }
      #expect(Set(importers).count == 1, "\(shim)")
    }
  }

  @Test func uncheckedSendableSaysWhyItHolds() {
    for file in Self.sources {
      for (index, line) in file.lines.enumerated()
      where line.contains("@unchecked Sendable") && !line.hasPrefix("//") {
        let nearby = file.lines[max(0, index - 4)...min(file.lines.count - 1, index + 2)]
        #expect(nearby.contains { $0.contains("SAFETY:") }, "\(file.path):\(index + 1)")
      }
    }
  }

  @Test func sourcesHaveNoForcedUnwrapsAndNoLeftovers() {
    let banned = ["try!", "as!", "fatalError(", "FIXME", "TODO", "print(\"DEBUG"]
    for file in Self.sources {
      for (index, line) in file.lines.enumerated() {
        for word in banned { #expect(!line.contains(word), "\(file.path):\(index + 1)") }
      }
    }
  }

  @Test func testsDoNotSleep() {
    let banned = ["Task.sl" + "eep", "usl" + "eep(", "Thread.sl" + "eep"]
    for file in Self.tests {
      for (index, line) in file.lines.enumerated() {
        for word in banned { #expect(!line.contains(word), "\(file.path):\(index + 1)") }
      }
    }
  }

  @Test func namesAreNouns() throws {
    let banned = try Regex(
      "(class|struct|enum|actor|protocol) [A-Za-z]*(Manager|Helper|Helpers|Utils|Common|Base)\\b"
    )
    // Apple's names are Apple's, and the example app has those of the app that it follows.
    let isForeign = { (line: String) in line.contains("class CX") || line.contains("ActiveCallM") }
    for file in Self.sources {
      for line in file.lines where !isForeign(line) {
        #expect(line.firstMatch(of: banned) == nil, "\(file.path): \(line)")
      }
    }
  }
}
