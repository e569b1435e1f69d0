/// Telephone numbers in the form in which they are compared.
package enum CallerNumber {
  /// Country code and national digits as one integer (`+1 (408) 555-5555` is 14085555555); nil if
  /// the text, of which `sip:`, `tel:` and what follows an `@` are left aside, is no telephone
  /// number.
  package static func normalized(_ text: String) -> Int64? {
    var rest = Substring(text)
    for scheme in ["sips:", "sip:", "tel:"] where rest.lowercased().hasPrefix(scheme) {
      rest = rest.dropFirst(scheme.count)
      break
    }
    rest = rest.prefix { $0 != "@" && $0 != ";" }
    var digits = ""
    for character in rest {
      switch character {
      case "0"..."9": digits.append(character)
      case "+" where digits.isEmpty: continue
      case " ", "-", ".", "(", ")", "/": continue
      default: return nil
      }
    }
    guard (3...18).contains(digits.count) else { return nil }
    return Int64(digits)
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
