import Foundation
import ProgramRig

/// A command that the documents show, as a reader would type it.
struct DocumentedCommand: Hashable {
  let text: String
  /// File that shows the command.
  let place: String

  /// All lines of code blocks and all pieces of code in sentences that begin with the program's
  /// name.
  ///
  /// Two spaces separate a command from its explanation.
  static func all() throws -> [DocumentedCommand] {
    let folder = ProgramUnderTest.package
    let pages = try FileManager.default.contentsOfDirectory(
      atPath: folder.appendingPathComponent("Documentation").path
    )
    let files = ["README.md"] + pages.filter { $0.hasSuffix(".md") }.map { "Documentation/\($0)" }
    return try files.sorted().flatMap { file -> [DocumentedCommand] in
      let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
      return commands(in: text).map { DocumentedCommand(text: $0, place: file) }
    }
  }

  static func commands(in page: String) -> [String] {
    var commands: [String] = []
    for (index, part) in page.components(separatedBy: "```").enumerated() {
      let isBlock = index % 2 == 1
      let pieces =
        isBlock
        ? part.split(separator: "\n").map(String.init)
        : part.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
          .map { $0.element.replacing("\n", with: " ") }
      commands += pieces.filter { $0.hasPrefix("sidetone ") }
    }
    return commands
  }

  /// Text to type, without the explanation that may follow.
  var typed: String {
    text.split(separator: "  ").first.map(String.init) ?? text
  }

  /// Words that name the command, if all others are placeholders, as in `sidetone call NAME` or
  /// `sidetone dnd on|off`; else nil.
  var form: [String]? {
    let words =
      text.components(separatedBy: "  ").first { $0.hasPrefix("sidetone") }
      .map { $0.split(separator: " ").dropFirst().map(String.init) } ?? []
    let names = words.prefix { word in
      word.allSatisfy { $0.isLowercase || $0 == "," } && !word.isEmpty
    }
    let rest = words.dropFirst(names.count)
    let isForm = rest.allSatisfy { word in
      word == "or" || word.contains { "[|".contains($0) || $0.isUppercase }
    }
    return isForm ? names.map { $0.replacing(",", with: "") } : nil
  }
}
