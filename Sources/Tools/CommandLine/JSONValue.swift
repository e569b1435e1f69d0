import Foundation

/// A value as RFC 8259 has it, to be printed in one line.
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

  /// The value in one line, fields in the order of their names; nil where a number is none.
  var line: String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Values of these types always encode but for infinities, which have no JSON.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// As a person reads it.
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
  /// The text, or null.
  static func text(_ value: String?) -> JSONValue { value.map { .text($0) } ?? .null }

  /// The count of something.
  static func count(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }
}
