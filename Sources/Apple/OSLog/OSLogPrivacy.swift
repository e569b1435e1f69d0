/// Visibility of a value of a message in the log.
///
/// Apple: `OSLogPrivacy`. By default numbers and Booleans, which a program usually makes itself,
/// are public, and texts, which usually come from elsewhere, are private. Differs from Apple's:
/// private values are never written, since a log on Linux does not distinguish readers of different
/// rights.
public struct OSLogPrivacy: Equatable, Sendable {
  /// Substitute for a private value.
  public enum Mask: Equatable, Sendable {
    /// A hash that is the same for equal values, within one run of the program.
    case hash
    /// The text `<private>`.
    case none
  }

  enum Rule: Equatable, Sendable {
    case open
    case hidden
    case automatic
  }

  let rule: Rule
  let mask: Mask

  /// Readable.
  public static let `public` = OSLogPrivacy(rule: .open, mask: .none)
  /// Not readable.
  public static let `private` = OSLogPrivacy(rule: .hidden, mask: .none)
  /// Never readable.
  public static let sensitive = OSLogPrivacy(rule: .hidden, mask: .none)
  /// Readable for numbers and Booleans only.
  public static let auto = OSLogPrivacy(rule: .automatic, mask: .none)

  /// Returns an option that replaces the value by the mask.
  public static func `private`(mask: Mask) -> OSLogPrivacy { .init(rule: .hidden, mask: mask) }
  /// Returns an option that always replaces the value by the mask.
  public static func sensitive(mask: Mask) -> OSLogPrivacy { .init(rule: .hidden, mask: mask) }
  /// Returns an option that replaces all but numbers and Booleans by the mask.
  public static func auto(mask: Mask) -> OSLogPrivacy { .init(rule: .automatic, mask: mask) }

  /// Returns the value, or its mask if it is private.
  func text(_ value: String, isPublicByItself: Bool) -> String {
    if rule == .open || rule == .automatic && isPublicByItself { return value }
    return switch mask {
    case .none: "<private>"
    case .hash: "<mask.hash: \(String(UInt(bitPattern: value.hashValue), radix: 16))>"
    }
  }
}
