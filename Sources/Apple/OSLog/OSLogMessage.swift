/// A line of the log, with values that may be private.
///
/// Apple: `OSLogMessage`. The values are evaluated only if the line is written.
public struct OSLogMessage: ExpressibleByStringInterpolation {
  private let parts: [() -> String]

  /// A line without values.
  public init(stringLiteral value: String) { parts = [{ value }] }

  /// A line with values.
  public init(stringInterpolation: StringInterpolation) { parts = stringInterpolation.parts }

  /// The line's text, with private values masked.
  var text: String { parts.reduce(into: "") { $0 += $1() } }

  /// Collects the text and values of a line.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [() -> String] = []

    /// Creates an empty interpolation.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Appends the text between values.
    public mutating func appendLiteral(_ literal: String) { parts.append { literal } }

    /// Appends an integer, which is public by default.
    public mutating func appendInterpolation(
      _ number: @autoclosure @escaping () -> some FixedWidthInteger,
      format: OSLogIntegerFormatting = .decimal,
      align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      parts.append { align.text(privacy.text(format.text(number()), isPublicByItself: true)) }
    }

    /// Appends a floating-point number, which is public by default.
    public mutating func appendInterpolation(
      _ number: @autoclosure @escaping () -> Double,
      format: OSLogFloatFormatting = .fixed,
      align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      parts.append { align.text(privacy.text(format.text(number()), isPublicByItself: true)) }
    }

    /// Appends a floating-point number, which is public by default.
    public mutating func appendInterpolation(
      _ number: @autoclosure @escaping () -> Float,
      format: OSLogFloatFormatting = .fixed,
      align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      appendInterpolation(Double(number()), format: format, align: align, privacy: privacy)
    }

    /// Appends a Boolean, which is public by default.
    public mutating func appendInterpolation(
      _ value: @autoclosure @escaping () -> Bool,
      format: OSLogBoolFormat = .truth,
      privacy: OSLogPrivacy = .auto
    ) {
      parts.append { privacy.text(format.text(value()), isPublicByItself: true) }
    }

    /// Appends a text, which is private by default.
    public mutating func appendInterpolation(
      _ value: @autoclosure @escaping () -> String,
      align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      parts.append { align.text(privacy.text(value(), isPublicByItself: false)) }
    }

    /// Appends anything that describes itself, which is private by default.
    @_disfavoredOverload
    public mutating func appendInterpolation(
      _ value: @autoclosure @escaping () -> some CustomStringConvertible,
      align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      parts.append { align.text(privacy.text(value().description, isPublicByItself: false)) }
    }

    /// Appends the name of a type, which is private by default.
    public mutating func appendInterpolation(
      _ value: @autoclosure @escaping () -> Any.Type,
      align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      parts.append { align.text(privacy.text("\(value())", isPublicByItself: false)) }
    }

    /// Appends an error, which is private by default.
    @_disfavoredOverload
    public mutating func appendInterpolation(
      _ value: @autoclosure @escaping () -> any Error,
      privacy: OSLogPrivacy = .auto
    ) {
      parts.append { privacy.text("\(value())", isPublicByItself: false) }
    }
  }
}
