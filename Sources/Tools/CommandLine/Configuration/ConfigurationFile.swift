import Foundation
import Localization
import SidetonePhone
import TOMLKit

/// The user's `config.toml`, beside the accounts.
enum ConfigurationFile {
  static var url: URL { AccountBook.folderOfUser.appendingPathComponent("config.toml") }

  /// Its values by table, "" for those outside of tables; none if there is no file.
  ///
  /// - Throws: a `CommandFailure` that says where the file makes no sense.
  static func read() throws -> [String: [String: String]] {
    guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
    do {
      return try values(of: try String(contentsOf: url, encoding: .utf8))
    } catch let error as TOMLParseError {
      let (line, column) = (error.source.begin.line, error.source.begin.column)
      throw CommandFailure("\(url.path), line \(line), column \(column): \(error.description)")
    } catch let error as Settings.Mistake {
      throw CommandFailure("\(url.path): \(error)")
    } catch {
      throw CommandFailure("cannot read \(url.path): \(error.localizedDescription)")
    }
  }

  static func values(of text: String) throws -> [String: [String: String]] {
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

  private static func scalar(
    _ value: any TOMLValueConvertible,
    named name: String
  ) throws -> String {
    if let text = value.string { return text }
    if let flag = value.bool { return "\(flag)" }
    if let whole = value.int { return "\(whole)" }
    if let number = value.double { return "\(number)" }
    throw Settings.Mistake(localized: "\"\(name)\" is a text, a number, true or false")
  }
}
