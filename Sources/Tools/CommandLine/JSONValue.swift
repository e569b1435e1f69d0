import Foundation

/// A JSON value (RFC 8259), to be printed in one line.
enum JSONValue: Encodable {
  case null
  case flag(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case number(Double)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .flag(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .list(let values): try container.encode(values)
    case .object(let fields): try container.encode(fields)
    }
  }

  /// The value in one line, fields in the order of their names; nil if a number is not finite.
  var line: String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Values of these types always encode but for infinities, which have no JSON.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The value as text for people.
  var plain: String {
    switch self {
    case .null: "none"
    case .flag(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): value
    case .list(let values): values.map(\.plain).joined(separator: " ")
    case .object(let fields):
      fields.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.plain)" }
        .joined(separator: ", ")
    }
  }
}

extension JSONValue: ExpressibleByStringInterpolation {
  init(stringLiteral value: String) { self = .text(value) }
}

extension JSONValue {
  /// Returns the text, or null for nil.
  static func text(_ value: String?) -> JSONValue { value.map { .text($0) } ?? .null }

  /// Returns a count as an integer.
  static func count(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }
}
