/// Normal forms of telephone numbers and handles, for comparison.
package enum CallerNumber {
  /// Returns country code and national digits as one integer; nil if the text is not a telephone
  /// number.
  ///
  /// `+1 (408) 555-5555` gives 14085555555. The schemes `sip:`, `sips:` and `tel:` are ignored, and
  /// so is everything from the first `@` or `;` on.
  package static func normalized(_ text: String) -> Int64? {
    dialled(text).flatMap { Int64($0) }
  }

  /// Returns the digits of a telephone number as they are dialled; nil if the text is not a
  /// telephone number of 3 to 18 digits.
  ///
  /// Leading zeros are kept, and so is a `+` before them. The text is read as by `normalized`.
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

  /// Returns the form that all spellings of a handle have in common.
  ///
  /// The digits of a number, else the address in lower case, without scheme and parameters.
  package static func key(_ handle: String) -> String {
    if let number = normalized(handle) { return "\(number)" }
    var rest = Substring(handle.lowercased())
    for scheme in ["sips:", "sip:", "mailto:"] where rest.hasPrefix(scheme) {
      rest = rest.dropFirst(scheme.count)
    }
    return String(rest.prefix { $0 != ";" && $0 != "?" })
  }
}
