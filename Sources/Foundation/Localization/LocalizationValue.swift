/// A text for people with values in it, which can be said in their language.
///
/// Written as a string literal: `"Calling \(name) ..."` has the key `Calling %@ ...`, by which the
/// catalogues of `Languages` know it, and the name as its argument.
package struct LocalizationValue: ExpressibleByStringInterpolation, Equatable, Sendable {
  /// The English text, with `%@` for each value and `%%` for a percent sign.
  package let key: String
  /// The values, in the order of the English text.
  package let arguments: [Argument]

  /// A value in a text.
  package enum Argument: Equatable, Sendable {
    /// It is the same in every language.
    case plain(String)
    /// It is a text of its own.
    case text(LocalizationValue)
  }

  /// The text itself: marks texts for the catalogues where nothing else does.
  package init(localized value: LocalizationValue) { self = value }

  /// A text without values.
  package init(stringLiteral value: String) {
    key = value.replacing("%", with: "%%")
    arguments = []
  }

  /// A text with values.
  package init(stringInterpolation: StringInterpolation) {
    key = stringInterpolation.key
    arguments = stringInterpolation.arguments
  }

  /// Collects key and arguments.
  package struct StringInterpolation: StringInterpolationProtocol, Sendable {
    fileprivate var key = ""
    fileprivate var arguments: [Argument] = []

    /// Begins empty.
    package init(literalCapacity: Int, interpolationCount: Int) {}

    /// Words between the values.
    package mutating func appendLiteral(_ literal: String) {
      key += literal.replacing("%", with: "%%")
    }

    /// A value that is the same in every language.
    package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
      key += "%@"
      arguments.append(.plain(value.description))
    }

    /// A text that was made elsewhere, and is to be said in the user's language as well.
    package mutating func appendInterpolation(reason: String) {
      key += "%@"
      arguments.append(.text(LocalizationValue(stringLiteral: reason)))
    }

    /// A text of its own.
    package mutating func appendInterpolation(_ value: LocalizationValue) {
      key += "%@"
      arguments.append(.text(value))
    }
  }

  /// The English text.
  package var english: String { text { $0 } }

  /// The text with its values in it, where `translate` says each text, by its key, in another
  /// language: the next value for each `%@`, a certain one for `%2$@`.
  ///
  /// What a translation asks for and there is not is left out.
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
