import Foundation
import Testing

/// Catalogues of `Packaging/po`: each translates every localized text of the sources.
struct LanguageTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let languages = ["de", "es", "fr", "ja", "pt"]

  /// A catalogue's texts by their keys: one line each, as `msgfmt` reads them.
  private static func catalogue(_ language: String) throws -> [String: String] {
    let file = root.appendingPathComponent("Packaging/po/\(language).po")
    let text = try String(contentsOf: file, encoding: .utf8)
    let pairs = text.matches(of: /msgid "(.+)"\nmsgstr "(.*)"\n/)
    return Dictionary(pairs.map { (String($0.output.1), String($0.output.2)) }) { first, _ in
      Issue.record("\(language): \(first) is there twice")
      return first
    }
  }

  /// Source text that precedes the literal of a localized string.
  private static let markers = [
    "localized:", "CommandFailure(", "subject:", "saying:", "advising:",
  ]

  /// Catalogue keys of the string literals that follow a marker in a source.
  private static func keys(in source: String) -> [String] {
    markers.flatMap { marker in
      source.components(separatedBy: marker).dropFirst().compactMap { rest in
        let text = rest.drop { $0.isWhitespace }
        let quotes = text.hasPrefix("\"\"\"") ? "\"\"\"" : "\""
        guard text.hasPrefix(quotes) else { return nil }
        return key(of: text.dropFirst(quotes.count), until: quotes)
      }
    }
  }

  // A value may have brackets and texts of its own. Long texts go on in the next line.
  private static func key(of literal: Substring, until quotes: String) -> String {
    var key = ""
    var rest = quotes.count > 1 ? literal.drop { $0.isWhitespace } : literal
    while !rest.hasPrefix(quotes), let character = rest.popFirst() {
      if character == "\n" { break }
      if character == "\\", rest.first == "\n" {
        rest = rest.drop { $0.isWhitespace }
        continue
      }
      // As in the catalogues.
      if character == "\\", let escaped = rest.first, escaped != "(" {
        key += "\\\(escaped)"
        rest.removeFirst()
        continue
      }
      guard character == "\\", rest.first == "(" else {
        let escapes: [Character: String] = ["%": "%%", "\"": "\\\""]
        key += escapes[character] ?? String(character)
        continue
      }
      key += "%@"
      var depth = 0
      repeat {
        let next = rest.popFirst()
        depth += next == "(" ? 1 : next == ")" ? -1 : 0
      } while depth > 0 && !rest.isEmpty
    }
    return key
  }

  private static let keys: Set<String> = {
    let base = root.appendingPathComponent("Sources")
    let paths =
      FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
    let texts = paths.filter { $0.hasSuffix(".swift") && !$0.contains("Localization/") }
      .compactMap { try? String(contentsOf: base.appendingPathComponent($0), encoding: .utf8) }
    return Set(texts.flatMap { keys(in: $0) })
  }()

  @Test(arguments: languages)
  func everyTextIsTranslated(language: String) throws {
    #expect(Self.keys.count > 50)
    let catalogue = try Self.catalogue(language)
    // Values alone are the same in every language.
    let texts = Self.keys.filter { $0.replacing("%@", with: "").contains(where: \.isLetter) }
    for key in texts.sorted() {
      #expect(catalogue[key]?.isEmpty == false, "\(language) lacks \"\(key)\"")
    }
    // Reasons come from elsewhere, and are translated where they are shown.
    let german = try Self.catalogue("de")
    #expect(Set(catalogue.keys) == Set(german.keys))
  }

  @Test(arguments: languages)
  func translationsHaveTheSameValues(language: String) throws {
    for (key, text) in try Self.catalogue(language) {
      let expected = key.ranges(of: "%@").count
      #expect(text.matches(of: /%(\d\$)?@/).count == expected, "\(language): \(text)")
      #expect(text.hasPrefix(" ") == key.hasPrefix(" ") || language == "ja", "\(language): \(text)")
    }
  }

  @Test(arguments: [
    (#"String(localized: "Calling \(to(1, "x")) 5 %")"#, ["Calling %@ 5 %%"]),
    ("f(\n  localized:\n  \"a\") localized: value localized: \"b\"", ["a", "b"]),
    (#"localized: "\(a.map { "sip:\($0)" }.joined()) here""#, ["%@ here"]),
    ("CommandFailure(\n  \"\"\"\n  a \\\n  b\n  \"\"\"\n)", ["a b"]),
    (#"CommandFailure("\"\(a)\" is \"b\"")"#, [#"\"%@\" is \"b\""#]),
    (#"subject: subject, saying: "it is \(reason: x)""#, ["it is %@"]),
  ])
  func keysAreFoundInSources(source: String, keys: [String]) {
    #expect(Self.keys(in: source) == keys)
  }
}
