import ArgumentParser
import Localization

extension ValidationError {
  /// Creates an error of wrong usage from a text, which is put into the user's language.
  init(localized text: LocalizationValue) {
    self.init(String(localized: text))
  }
}
