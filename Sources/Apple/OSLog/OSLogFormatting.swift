import Foundation

/// How a whole number is written.
///
/// Apple: `OSLogIntegerFormatting`.
public struct OSLogIntegerFormatting: Equatable, Sendable {
  private let radix: Int
  private let prefix: String
  private let isUppercase: Bool

  /// In tens.
  public static let decimal = OSLogIntegerFormatting(radix: 10, prefix: "", isUppercase: false)
  /// In sixteens, with small letters.
  public static let hex = OSLogIntegerFormatting(radix: 16, prefix: "", isUppercase: false)
  /// In eights.
  public static let octal = OSLogIntegerFormatting(radix: 8, prefix: "", isUppercase: false)

  /// In sixteens, after `0x` if wanted.
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

/// How a number with a fraction is written.
///
/// Apple: `OSLogFloatFormatting`.
public struct OSLogFloatFormatting: Equatable, Sendable {
  private let pattern: String

  /// With six digits after the point.
  public static let fixed = OSLogFloatFormatting.fixed(precision: 6)
  /// As short as the value allows.
  public static let hybrid = OSLogFloatFormatting(pattern: "%g")
  /// With a power of ten.
  public static let exponential = OSLogFloatFormatting(pattern: "%e")

  /// With so many digits after the point, 0 to 60.
  public static func fixed(precision: Int) -> OSLogFloatFormatting {
    .init(pattern: "%.\(min(max(precision, 0), 60))f")
  }

  func text(_ number: Double) -> String { String(format: pattern, number) }
}

/// How a truth value is written.
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

/// How a value stands in its column.
///
/// Apple: `OSLogStringAlignment`.
public struct OSLogStringAlignment: Equatable, Sendable {
  private let columns: Int
  private let isRight: Bool

  /// As it is.
  public static let none = OSLogStringAlignment(columns: 0, isRight: false)

  /// At the right of so many columns.
  public static func right(columns: Int) -> OSLogStringAlignment {
    .init(columns: columns, isRight: true)
  }

  /// At the left of so many columns.
  public static func left(columns: Int) -> OSLogStringAlignment {
    .init(columns: columns, isRight: false)
  }

  func text(_ value: String) -> String {
    let room = String(repeating: " ", count: max(0, min(columns, 1_000) - value.count))
    return isRight ? room + value : value + room
  }
}
