import Foundation

/// Format of an integer.
///
/// Apple: `OSLogIntegerFormatting`.
public struct OSLogIntegerFormatting: Equatable, Sendable {
  private let radix: Int
  private let prefix: String
  private let isUppercase: Bool

  /// Decimal.
  public static let decimal = OSLogIntegerFormatting(radix: 10, prefix: "", isUppercase: false)
  /// Hexadecimal, with small letters and without prefix.
  public static let hex = OSLogIntegerFormatting(radix: 16, prefix: "", isUppercase: false)
  /// Octal, without prefix.
  public static let octal = OSLogIntegerFormatting(radix: 8, prefix: "", isUppercase: false)

  /// Returns a hexadecimal format, with the prefix `0x` and capital letters if wanted.
  public static func hex(
    includePrefix: Bool = false,
    uppercase: Bool = false
  ) -> OSLogIntegerFormatting {
    .init(radix: 16, prefix: includePrefix ? "0x" : "", isUppercase: uppercase)
  }

  func text(_ number: some FixedWidthInteger) -> String {
    prefix + String(number, radix: radix, uppercase: isUppercase)
  }
}

/// Format of a floating-point number.
///
/// Apple: `OSLogFloatFormatting`.
public struct OSLogFloatFormatting: Equatable, Sendable {
  private let pattern: String

  /// Six digits after the decimal point.
  public static let fixed = OSLogFloatFormatting.fixed(precision: 6)
  /// The shorter of fixed and exponential notation (`%g`).
  public static let hybrid = OSLogFloatFormatting(pattern: "%g")
  /// Exponential notation (`%e`).
  public static let exponential = OSLogFloatFormatting(pattern: "%e")

  /// Returns a format with that number of digits after the decimal point, clamped to 0 to 60.
  public static func fixed(precision: Int) -> OSLogFloatFormatting {
    .init(pattern: "%.\(min(max(precision, 0), 60))f")
  }

  func text(_ number: Double) -> String { String(format: pattern, number) }
}

/// Format of a Boolean.
///
/// Apple: `OSLogBoolFormat`.
public enum OSLogBoolFormat: Sendable {
  /// `true` or `false`.
  case truth
  /// `yes` or `no`.
  case answer

  func text(_ value: Bool) -> String {
    switch self {
    case .truth: value ? "true" : "false"
    case .answer: value ? "yes" : "no"
    }
  }
}

/// Alignment of a value in a column.
///
/// Apple: `OSLogStringAlignment`.
public struct OSLogStringAlignment: Equatable, Sendable {
  private let columns: Int
  private let isRight: Bool

  /// No padding.
  public static let none = OSLogStringAlignment(columns: 0, isRight: false)

  /// Returns an alignment to the right of a column of that width in characters, at most 1,000.
  public static func right(columns: Int) -> OSLogStringAlignment {
    .init(columns: columns, isRight: true)
  }

  /// Returns an alignment to the left of a column of that width in characters, at most 1,000.
  public static func left(columns: Int) -> OSLogStringAlignment {
    .init(columns: columns, isRight: false)
  }

  func text(_ value: String) -> String {
    let room = String(repeating: " ", count: max(0, min(max(columns, 0), 1_000) - value.count))
    return isRight ? room + value : value + room
  }
}
