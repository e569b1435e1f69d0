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

  private static func files(under folder: String, type: String = ".swift") -> [SourceFile] {
    let base = root.appendingPathComponent(folder)
    let paths =
      FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
    return paths.filter { $0.hasSuffix(type) && !$0.contains(".build") && !$0.contains(".venv") }
      .compactMap { path in
        file("\(folder)/\(path)")
      }
  }

  private static func file(_ path: String) -> SourceFile? {
    // The sources have been listed: one that cannot be read is missing from the count of all.
    guard let text = try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    else { return nil }
    return SourceFile(
      path: path,
      lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    )
  }

  private static let sources = files(under: "Sources")
  private static let examples = files(under: "Examples")
  private static let benchmarks = files(under: "Benchmarks")
  private static let documents =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"].compactMap(file)
    + ["Sources", "Documentation", "Examples", "Benchmarks"].flatMap {
      files(under: $0, type: ".md")
    }
  private static let tests = files(under: "Tests")

  @Test func thereAreSources() {
    #expect(Self.sources.count > 50)
  }

  /// The formatter does not wrap comments and literals.
  @Test func linesStopAtAHundredColumns() {
    for file in Self.sources + Self.examples + Self.tests + Self.benchmarks {
      for (index, line) in file.lines.enumerated() where line.count > 100 {
        Issue.record("\(file.path):\(index + 1) has \(line.count) columns")
      }
    }
  }

  /// Tables have one line for each row, however long.
  @Test func linesOfDocumentsStopAtAHundredAndTwentyColumns() {
    for file in Self.documents {
      for (index, line) in file.lines.enumerated() where line.count > 120 {
        #expect(line.hasPrefix("|"), "\(file.path):\(index + 1) has \(line.count) columns")
      }
    }
  }

  /// Phrases that make a reader guess who or what is meant.
  @Test func nothingReadsLikeARiddle() throws {
    let riddles = try Regex(
      "\\b(whoever|in vain|for nothing|what was said|what is heard|(is|was|are) told)\\b"
        + "|\\b(some|no)body (has|else|hears|waits|asks|knows|listens|took|calls|who|with)\\b"
    ).ignoresCase()
    // Each riddle has one of these; a regular expression for every line of the tree takes a minute.
    let signs = ["oever", "vain", "nothing", "said", "heard", "told", "obody", "omebody"]
    let here = "Tests/RepositoryTests/RepositoryTests.swift"
    let code = Self.sources + Self.examples + Self.tests + Self.benchmarks
    for file in code + Self.documents where file.path != here {
      for (index, line) in file.lines.enumerated()
      where signs.contains(where: line.contains) && line.firstMatch(of: riddles) != nil {
        Issue.record("\(file.path):\(index + 1): \(line)")
      }
    }
  }

  /// A comment of a declaration says what it is or does.
  @Test func noCommentOfADeclarationBeginsWithAQuestionWord() throws {
    let question = /\s*\/\/\/ (What|Who|Whom|Whose|Where|How|Which)\b.*/
    for file in Self.sources + Self.examples + Self.tests + Self.benchmarks {
      for (index, line) in file.lines.enumerated()
      where line.contains("/// W") || line.contains("/// H") {
        let isFirst = index == 0 || !file.lines[index - 1].contains("///")
        if isFirst, line.wholeMatch(of: question) != nil {
          Issue.record("\(file.path):\(index + 1): \(line)")
        }
      }
    }
  }

  /// The last column of a table that names tests.
  private static func namedTests(in path: String) -> [String] {
    let lines = documents.first { $0.path == path }?.lines ?? []
    return lines.filter { $0.hasPrefix("| ") }.flatMap { row in
      let column = row.split(separator: " | ").last ?? ""
      return column.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
  }

  @Test(arguments: ["Documentation/CallKitRules.md", "Documentation/SecurityPromises.md"])
  func testsThatATableNamesExist(path: String) {
    let functions = Set(
      Self.tests.flatMap { file in
        file.lines.compactMap { line in
          line.firstRange(of: "func ").map { line[$0.upperBound...].prefix { $0 != "(" } }
        }.map(String.init)
      }
    )
    let named = Self.namedTests(in: path)
    #expect(named.count > 100)
    let missing = named.filter { !functions.contains($0) }
    #expect(missing == [])
  }

  @Test func eachRuleOfCallKitHasARow() {
    let lines = Self.documents.first { $0.path == "Documentation/CallKitRules.md" }?.lines ?? []
    let rules = lines.compactMap { $0.firstMatch(of: /^\| R(\d+) \|/).flatMap { Int($0.1) } }
    #expect(rules == Array(1...110))
  }

  @Test func filesStopAtFiveHundredLines() {
    for file in Self.sources + Self.examples + Self.tests {
      #expect(file.lines.count <= 500, "\(file.path)")
    }
  }

  /// The folders of Sources, bottom up.
  private static let layers = [
    "System", "Foundation", "Protocols", "Signal", "Voice", "Linux", "Apple", "Phone", "Tools",
  ]

  /// The modules of Sources, and the number of the layer that each is in.
  private static func layersOfModules() throws -> [String: Int] {
    var found: [String: Int] = [:]
    for (number, layer) in layers.enumerated() {
      let folder = root.appendingPathComponent("Sources/\(layer)").path
      for module in try FileManager.default.contentsOfDirectory(atPath: folder) {
        found[module] = number
      }
    }
    return found
  }

  /// Names of the modules that a file imports.
  private static func imports(of file: SourceFile) -> [String] {
    file.lines.compactMap { line in
      let words = line.split(separator: " ")
      guard !line.hasPrefix("//"), let place = words.firstIndex(of: "import") else { return nil }
      return place + 1 < words.count ? String(words[place + 1]) : nil
    }
  }

  @Test func sourcesHaveTheFoldersOfTheLayers() throws {
    let folder = Self.root.appendingPathComponent("Sources").path
    #expect(
      try Set(FileManager.default.contentsOfDirectory(atPath: folder)) == Set(Self.layers)
    )
  }

  /// A core that imports neither Foundation nor Glibc has no clock, no thread and no file.
  @Test(arguments: [
    ("Protocols/RTP", ["MediaCore"]), ("Protocols/CallState", ["MediaCore"]),
    ("Signal/Playout", ["MediaCore"]), ("Protocols/ICE", ["MediaCore", "NetworkAddress"]),
    ("Protocols/SIPRules", ["MediaCore", "NetworkAddress"]),
  ])
  func coresImportValuesAlone(module: String, values: [String]) {
    for file in Self.files(under: "Sources/\(module)") {
      #expect(Self.imports(of: file).allSatisfy { values.contains($0) }, "\(file.path)")
    }
  }

  @Test func importsNeverPointUpwards() throws {
    let layers = try Self.layersOfModules()
    #expect(layers.count > 25 && layers["MediaCore"] == 1 && layers["SidetonePhone"] == 7)
    for file in Self.sources {
      let own = try #require(layers[String(file.path.split(separator: "/")[2])])
      for imported in Self.imports(of: file) {
        #expect(layers[imported] ?? own <= own, "\(file.path): \(imported)")
      }
    }
  }

  @Test func theCodeMapNamesEachModule() throws {
    let map = try String(
      contentsOf: Self.root.appendingPathComponent("ARCHITECTURE.md"),
      encoding: .utf8
    )
    for module in try Self.layersOfModules().keys {
      let isNamed = map.contains("`\(module)`")
      #expect(isNamed, "\(module) is not in the code map")
    }
  }

  /// Paths that differ in case alone are one file on the file system of every Mac.
  @Test func noTwoNamesDifferInCaseAlone() throws {
    var paths: [String: String] = [:]
    for folder in ["Sources", "Tests", "Examples", "Benchmarks"] {
      let base = Self.root.appendingPathComponent(folder).path
      let found = FileManager.default.enumerator(atPath: base)?.compactMap { $0 as? String } ?? []
      for path in found.map({ "\(folder)/\($0)" }) where !path.contains(".venv") {
        let other = paths.updateValue(path, forKey: path.lowercased())
        #expect(other == nil, "\(path) and \(other ?? "")")
      }
    }
    var modules: [String: String] = [:]
    for module in try Self.layersOfModules().keys {
      let other = modules.updateValue(module, forKey: module.lowercased())
      #expect(other == nil, "\(module) and \(other ?? "")")
    }
  }

  @Test(arguments: ["CALSA", "COpus", "CSpeexDSP", "CLibre", "CDBus", "CPcap"])
  func eachLibraryHasOneImporter(shim: String) {
    let importers = Self.sources.filter { Self.imports(of: $0).contains(shim) }
      .map { String($0.path.split(separator: "/")[2]) }
    // This one takes the place of some of libre's functions.
    #expect(Set(importers).subtracting(["DigestAuthentication"]).count == 1)
  }

  /// The `SAFETY:` comment stands just above the type.
  ///
  /// If the type has a doc comment, it stands above that, since the formatter wants doc comments
  /// next to their declarations.
  @Test func uncheckedSendableSaysWhyItHolds() {
    for file in Self.sources {
      for (index, line) in file.lines.enumerated()
      where line.contains("@unchecked Sendable") && !line.hasPrefix("//") {
        let above = file.lines[..<index].reversed()
          .map { $0.trimmingCharacters(in: .whitespaces) }
          .prefix { $0.hasPrefix("//") || $0.hasPrefix("@") }
        #expect(above.contains { $0.contains("// SAFETY:") }, "\(file.path):\(index + 1)")
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

  /// An error that is dropped needs its reason; an interrupted pause and a leftover file have none
  /// to give.
  @Test func droppedErrorsSayWhyNothingIsLost() {
    let plain = ["Task.sl" + "eep", "removeItem"]
    for file in Self.sources {
      for (index, line) in file.lines.enumerated()
      where line.contains("try? ") && !line.contains("throws") {
        let nearby = file.lines[max(0, index - 5)...index]
        let isExplained = nearby.contains { $0.contains("//") }
        let isPlain = plain.contains { line.contains($0) }
        #expect(isExplained || isPlain, "\(file.path):\(index + 1)")
      }
    }
  }

  /// A module without tests of its own is tested by accident; those that only export others, and C
  /// shims, have nothing to test.
  @Test func eachModuleHasItsTests() throws {
    let exports: Set = ["AVFoundation", "FoundationAdditions"]
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appendingPathComponent("Tests").path
    )
    for (module, layer) in try Self.layersOfModules()
    where layer > 0 && !exports.contains(module) {
      #expect(folders.contains("\(module)Tests"), "\(module)")
    }
  }

  /// Tests and their rigs wait for events instead of sleeping.
  ///
  /// Exempt are `Patience`, which polls for events that no descriptor signals, and probes, which
  /// are programs of their own.
  @Test func testsDoNotSleep() {
    let exempt = ["Tests/ProgramRig/Patience.swift", "Tests/probes/"]
    let banned = ["Task.sl" + "eep", "usl" + "eep(", "Thread.sl" + "eep"]
    for file in Self.tests where !exempt.contains(where: file.path.hasPrefix) {
      for (index, line) in file.lines.enumerated() {
        for word in banned { #expect(!line.contains(word), "\(file.path):\(index + 1)") }
      }
    }
  }

  @Test func namesAreNouns() throws {
    let banned = try Regex(
      "(class|struct|enum|actor|protocol) [A-Za-z]*(Manager|Helper|Helpers|Utils|Common|Base)\\b"
    )
    // Apple's names are Apple's.
    let isForeign = { (line: String) in
      line.contains("class CX") || line.contains("class Conversation")
    }
    for file in Self.sources {
      for line in file.lines where !isForeign(line) {
        #expect(line.firstMatch(of: banned) == nil, "\(file.path): \(line)")
      }
    }
  }
}
