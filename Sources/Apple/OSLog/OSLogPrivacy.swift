/// Whether a value of a message may be read in the log.
///
/// Apple: `OSLogPrivacy`. What a program writes by itself, as numbers, is public unless it says
/// otherwise; what comes from elsewhere, as texts, is private. Differs from Apple's: what is
/// private is never written, since a log on Linux has no readers of several rights.
public struct OSLogPrivacy: Equatable, Sendable {
  /// What stands in the place of a private value.
  public enum Mask: Equatable, Sendable {
    /// A number that is the same for equal values, in this run of the program.
    case hash
    /// That it is private.
    case none
  }

  enum Rule: Equatable, Sendable {
    case open
    case hidden
    case automatic
  }

  let rule: Rule
  let mask: Mask

  /// The value can be read.
  public static let `public` = OSLogPrivacy(rule: .open, mask: .none)
  /// The value cannot be read.
  public static let `private` = OSLogPrivacy(rule: .hidden, mask: .none)
  /// The value can never be read.
  public static let sensitive = OSLogPrivacy(rule: .hidden, mask: .none)
  /// Numbers and truth values can be read, all else cannot.
  public static let auto = OSLogPrivacy(rule: .automatic, mask: .none)

  /// The value cannot be read; the mask stands in its place.
  public static func `private`(mask: Mask) -> OSLogPrivacy { .init(rule: .hidden, mask: mask) }
  /// The value can never be read; the mask stands in its place.
  public static func sensitive(mask: Mask) -> OSLogPrivacy { .init(rule: .hidden, mask: mask) }
  /// Numbers and truth values can be read; the mask stands in the place of all else.
  public static func auto(mask: Mask) -> OSLogPrivacy { .init(rule: .automatic, mask: mask) }

  /// What is written of a value.
  func text(_ value: String, isPublicByItself: Bool) -> String {
    if rule == .open || rule == .automatic && isPublicByItself { return value }
    return switch mask {
    case .none: "<private>"
    case .hash: "<mask.hash: \(String(UInt(bitPattern: value.hashValue), radix: 16))>"
    }
  }
}
