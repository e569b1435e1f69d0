import Localization

/// An error that ends the program with status 1 and one line.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String

  /// Creates a failure from a text, which is put into the user's language.
  init(_ text: LocalizationValue) {
    description = String(localized: text)
  }

  /// Creates a failure from a reason in English, which is translated if a catalogue has it.
  init(reason: String) {
    description = String(localizedReason: reason)
  }

  /// Runs `work`, and throws its error as a `CommandFailure`.
  static func orFail<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
  }

  /// Runs `work`, and throws its error as a `CommandFailure`.
  static func orFail<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
  }
}
