import CIntl
import Glibc

/// Sidetone's texts in the user's language: the gettext catalogues of the domain `sidetone`.
///
/// The language is that of `LC_ALL`, `LC_MESSAGES`, `LANG` and `LANGUAGE`; a text that is not
/// translated stays English. **Thread safety:** everything may be used from any thread.
enum Messages {
  private static let domain = "sidetone"

  /// Locale of the user's language; nil if the system does not have it.
  ///
  /// SAFETY: made once, and never changed or released.
  nonisolated(unsafe) private static let language: UnsafeMutableRawPointer? = unsafe open()

  private static func open() -> UnsafeMutableRawPointer? {
    guard let language = unsafe intl_user_language() else { return nil }
    // Beside the program, as it is installed or built: ../share/locale.
    if let program = unsafe realpath("/proc/self/exe", nil) {
      let path = unsafe String(cString: program)
      unsafe free(program)
      let folder = path.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
      _ = unsafe bindtextdomain(domain, folder + "/share/locale")
    }
    _ = unsafe bind_textdomain_codeset(domain, "UTF-8")
    return unsafe language
  }

  static func translation(of key: String) -> String {
    // Gettext has the catalogue's own description for the empty text.
    guard !key.isEmpty, let language = unsafe language else { return key }
    // What is not translated comes back as the very pointer that went in.
    return unsafe key.withCString { untranslated in
      guard let text = unsafe intl_text(language, domain, untranslated) else { return key }
      return unsafe text == untranslated ? key : String(cString: text)
    }
  }
}

extension String {
  /// Translates a text to the user's language.
  package init(localized value: LocalizationValue) {
    self = value.text(Messages.translation)
  }

  /// Translates a text made elsewhere, such as the reason why a call ended, to the user's language.
  ///
  /// The text stays as it is if no catalogue has it.
  package init(localizedReason reason: String) {
    self.init(localized: LocalizationValue(stringLiteral: reason))
  }
}
