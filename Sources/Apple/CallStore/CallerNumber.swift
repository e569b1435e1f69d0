/// Telephone numbers in the form in which they are compared.
package enum CallerNumber {
  /// Country code and national digits as one integer (`+1 (408) 555-5555` is 14085555555); nil if
  /// the text, of which `sip:`, `tel:` and what follows an `@` are left aside, is no telephone
  /// number.
  package static func normalized(_ text: String) -> Int64? {
    dialled(text).flatMap { Int64($0) }
  }

  /// The digits of a telephone number as they are dialled, zeros at the beginning included, after a
  /// `+` if it has one; nil if the text, read as by `normalized`, is no telephone number.
  package static func dialled(_ text: String) -> String? {
    var rest = Substring(text)
    for scheme in ["sips:", "sip:", "tel:"] where rest.lowercased().hasPrefix(scheme) {
      rest = rest.dropFirst(scheme.count)
      break
    }
    rest = rest.prefix { $0 != "@" && $0 != ";" }
    var digits = ""
    var sign = ""
    for character in rest {
      switch character {
      case "0"..."9" where character.isASCII: digits.append(character)
      case "+" where digits.isEmpty: sign = "+"
      case " ", "-", ".", "(", ")", "/": continue
      default: return nil
      }
    }
    guard (3...18).contains(digits.count) else { return nil }
    return sign + digits
  }

  /// What two spellings of one handle have in common: the digits of a number, else the lower-case
  /// address without a scheme and parameters.
  package static func key(_ handle: String) -> String {
    if let number = normalized(handle) { return "\(number)" }
    var rest = Substring(handle.lowercased())
    for scheme in ["sips:", "sip:", "mailto:"] where rest.hasPrefix(scheme) {
      rest = rest.dropFirst(scheme.count)
    }
    return String(rest.prefix { $0 != ";" && $0 != "?" })
  }
}
