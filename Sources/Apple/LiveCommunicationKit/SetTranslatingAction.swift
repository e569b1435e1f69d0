import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to translate a conversation, or to stop doing so.
///
/// Differs from Apple's: it exists so that apps compile. Nothing here translates, so it is never
/// delivered, and a request for it is refused as an invalid action.
public final class SetTranslatingAction: ConversationAction, @unchecked Sendable {
  /// Engine of a translation.
  public enum TranslationEngine: Hashable, Sendable {
    /// The system.
    case `default`
    /// The app.
    case custom
  }

  /// True to translate.
  public let isTranslating: Bool
  /// The user's language.
  public let localLanguage: Locale.Language
  /// The remote party's language.
  public let remoteLanguage: Locale.Language

  /// Creates a request to translate between two languages, or to stop doing so.
  public init(
    conversationID: UUID,
    isTranslating: Bool,
    localLanguage: Locale.Language,
    remoteLanguage: Locale.Language
  ) {
    self.isTranslating = isTranslating
    self.localLanguage = localLanguage
    self.remoteLanguage = remoteLanguage
    super.init(
      CXSetTranslatingCallAction(
        call: conversationID,
        isTranslating: isTranslating,
        localLanguage: localLanguage.maximalIdentifier,
        remoteLanguage: remoteLanguage.maximalIdentifier
      )
    )
  }

  /// Reports that the app translates with the given engine.
  public func fulfill(using translationEngine: TranslationEngine) { fulfill() }
}
