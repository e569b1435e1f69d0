import Foundation
import Localization
import SidetonePhone
import TOMLKit

/// The user's `config.toml`, beside the accounts.
enum ConfigurationFile {
  static var url: URL { AccountBook.folderOfUser.appendingPathComponent("config.toml") }

  /// Reads the file's values by table, "" for those outside of tables; empty if there is no file.
  ///
  /// - Throws: a `CommandFailure` that says where the file makes no sense.
  static func read() throws -> [String: [String: String]] {
    guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
    do {
      return try values(of: try String(contentsOf: url, encoding: .utf8))
    } catch let error as TOMLParseError {
      let (line, column) = (error.source.begin.line, error.source.begin.column)
      throw CommandFailure("\(url.path), line \(line), column \(column): \(error.description)")
    } catch let error as StrangeLine {
      throw CommandFailure(
        "\(url.path), line \(error.number): neither a table's name nor a name with a value"
      )
    } catch let error as Settings.Mistake {
      throw CommandFailure("\(url.path): \(error)")
    } catch {
      throw CommandFailure("cannot read \(url.path): \(error.localizedDescription)")
    }
  }

  /// Error of a line that is neither a table's name nor a name with a value.
  struct StrangeLine: Error, Equatable {
    /// Number of the line, from 1.
    let number: Int
  }

  /// Returns the values in a text, by table.
  ///
  /// - Throws: a `TOMLParseError`, a `StrangeLine` or a `Settings.Mistake` about a value of another
  ///   kind.
  static func values(of text: String) throws -> [String: [String: String]] {
    try check(text)
    let table = try TOMLTable(string: text)
    var found: [String: [String: String]] = ["": [:]]
    for (key, value) in table {
      if let inner = value.table {
        found[key] = [:]
        for (name, value) in inner { found[key]?[name] = try scalar(value, named: name) }
      } else {
        found["", default: [:]][key] = try scalar(value, named: key)
      }
    }
    return found
  }

  // TOMLKit gets nothing but tables' names, and names with a text on one line, a number, true or
  // false: a list like `[}`, a date like `2026-99-01` and a name with a zero in it end the program
  // in TOMLKit 0.6.0.
  private static func check(_ text: String) throws {
    let nothing = #/[ \t]*(?:#.*)?/#
    let table = #/[ \t]*\[[ \t]*[A-Za-z0-9_-]+[ \t]*\][ \t]*(?:#.*)?/#
    let name = #/[ \t]*([A-Za-z0-9_-]+)[ \t]*=[ \t]*(.*)/#
    let value = #/(?:"(?:[^"\\]|\\.)*"|'[^']*'|true|false|[+-]?[0-9]+(?:\.[0-9]+)?)[ \t]*(?:#.*)?/#
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, scalars) in lines.enumerated() {
      let line = String(scalars.last == "\r" ? scalars.dropLast() : scalars)
      func matches(_ regex: some RegexComponent, _ part: Substring) -> Bool {
        // What TOML sees: a quote with an accent is a quote.
        (try? regex.regex.matchingSemantics(.unicodeScalar).wholeMatch(in: part)) ?? nil != nil
      }
      if matches(nothing, line[...]) || matches(table, line[...]) { continue }
      guard let found = try name.matchingSemantics(.unicodeScalar).wholeMatch(in: line) else {
        throw StrangeLine(number: index + 1)
      }
      guard matches(value, found.2) else { throw mistake(about: String(found.1)) }
    }
  }

  private static func mistake(about name: String) -> Settings.Mistake {
    Settings.Mistake(localized: "\"\(name)\" is a text, a number, true or false")
  }

  private static func scalar(
    _ value: any TOMLValueConvertible,
    named name: String
  ) throws -> String {
    if let text = value.string { return text }
    if let flag = value.bool { return "\(flag)" }
    if let whole = value.int { return "\(whole)" }
    if let number = value.double { return "\(number)" }
    throw mistake(about: name)
  }
}
