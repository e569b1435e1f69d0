/// A text for the user, with values in it, that can be translated.
///
/// Written as a string literal: `"Calling \(name) ..."` has the key `Calling %@ ...`, by which
/// message catalogues list it, and the name as its argument.
package struct LocalizationValue: ExpressibleByStringInterpolation, Equatable, Sendable {
  /// English text, with `%@` for each value and `%%` for a percent sign.
  package let key: String
  /// Values, in the order of the English text.
  package let arguments: [Argument]

  /// A value in a text.
  package enum Argument: Equatable, Sendable {
    /// A value that is the same in every language.
    case plain(String)
    /// A text that is translated by itself.
    case text(LocalizationValue)
  }

  /// Copies a text; the label `localized` marks its literal as one that the catalogues must
  /// contain.
  package init(localized value: LocalizationValue) { self = value }

  /// Creates a text without values.
  package init(stringLiteral value: String) {
    key = value.replacing("%", with: "%%")
    arguments = []
  }

  /// Creates a text with values.
  package init(stringInterpolation: StringInterpolation) {
    key = stringInterpolation.key
    arguments = stringInterpolation.arguments
  }

  /// Collects the key and the arguments of a text.
  package struct StringInterpolation: StringInterpolationProtocol, Sendable {
    fileprivate var key = ""
    fileprivate var arguments: [Argument] = []

    /// Creates an empty interpolation.
    package init(literalCapacity: Int, interpolationCount: Int) {}

    /// Appends the words between values.
    package mutating func appendLiteral(_ literal: String) {
      key += literal.replacing("%", with: "%%")
    }

    /// Appends a value that is the same in every language.
    package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      key += "%@"
      arguments.append(.plain(value.description))
    }

    /// Appends a text made elsewhere, which is translated by itself.
    package mutating func appendInterpolation(reason: String) {
      key += "%@"
      arguments.append(.text(LocalizationValue(stringLiteral: reason)))
    }

    /// Appends a text that is translated by itself.
    package mutating func appendInterpolation(_ value: LocalizationValue) {
      key += "%@"
      arguments.append(.text(value))
    }
  }

  /// English text, with its values.
  package var english: String { text { $0 } }

  /// Returns the text with its values, in the language of `translate`.
  ///
  /// `translate` returns the translation of each key, in which `%@` stands for the next value, and
  /// `%2$@` for the second one. Values that a translation asks for but that do not exist are left
  /// out.
  package func text(_ translate: (String) -> String) -> String {
    let arguments = arguments.map { argument in
      switch argument {
      case .plain(let text): text
      case .text(let value): value.text(translate)
      }
    }
    let translated = translate(key)
    var text = ""
    var rest = translated[...]
    var next = 0
    while let percent = rest.firstIndex(of: "%") {
      text += rest[..<percent]
      rest = rest[percent...].dropFirst()
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      if rest.first == "%" {
        text += "%"
        rest = rest.dropFirst()
      } else if rest.first == "@" {
        if arguments.indices.contains(next) { text += arguments[next] }
        next += 1
        rest = rest.dropFirst()
      } else if let place = Int(digits), rest.dropFirst(digits.count).hasPrefix("$@") {
        if arguments.indices.contains(place - 1) { text += arguments[place - 1] }
        rest = rest.dropFirst(digits.count + 2)
      }
    }
    return text + rest
  }
}
