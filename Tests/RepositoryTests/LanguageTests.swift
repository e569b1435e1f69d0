import Foundation
import Testing

/// The catalogues of `Packaging/po` have what the sources say, each in its language.
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

  /// The keys of the texts that follow `localized:` in a source.
  private static func keys(in source: String) -> [String] {
    source.components(separatedBy: "localized:").dropFirst().compactMap { rest in
      let text = rest.drop { $0.isWhitespace }
      guard text.first == "\"" else { return nil }
      return key(of: text.dropFirst())
    }
  }

  // A value may have brackets and texts of its own.
  private static func key(of literal: Substring) -> String {
    var key = ""
    var rest = literal
    while let character = rest.popFirst(), character != "\"" {
      guard character == "\\", rest.first == "(" else {
        key.append(character == "%" ? "%%" : String(character))
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
    for key in Self.keys.sorted() {
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
  ])
  func keysAreFoundInSources(source: String, keys: [String]) {
    #expect(Self.keys(in: source) == keys)
  }
}
