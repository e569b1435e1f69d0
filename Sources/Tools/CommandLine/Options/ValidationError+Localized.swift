import ArgumentParser
import Localization

extension ValidationError {
  /// Wrong usage, said in the user's language.
  init(localized text: LocalizationValue) {
    self.init(String(localized: text))
  }
}
