public import Foundation

/// Translates a call's speech, or stops doing so.
///
/// Differs from Apple's: it is there so that apps compile; nothing here translates, so it is never
/// delivered, and a request for it is refused as an invalid action.
open class CXSetTranslatingCallAction: CXCallAction {
  private let translates: Bool
  private let local: String
  private let remote: String

  /// Translates between two languages, named by their BCP 47 tags.
  public init(
    call callUUID: UUID,
    isTranslating: Bool,
    localLanguage: String,
    remoteLanguage: String
  ) {
    translates = isTranslating
    local = localLanguage
    remote = remoteLanguage
    super.init(call: callUUID)
  }

  /// An action from an archive; nil if it holds none.
  public required init?(coder: NSCoder) {
    translates = coder.decodeBool(forKey: "translating")
    local = coder.decodeText(forKey: "localLanguage") ?? ""
    remote = coder.decodeText(forKey: "remoteLanguage") ?? ""
    super.init(coder: coder)
  }

  /// True to translate.
  open var isTranslating: Bool { translates }
  /// The user's language.
  open var localLanguage: String { local }
  /// The far side's language.
  open var remoteLanguage: String { remote }

  /// Reports that the app translates with the given engine.
  open func fulfill(using engine: CXTranslationEngine) {
    fulfill()
  }

  /// Archives the action's identity and properties.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(translates, forKey: "translating")
    coder.encode(local, forKey: "localLanguage")
    coder.encode(remote, forKey: "remoteLanguage")
  }

  override func duplicate() -> CXAction {
    CXSetTranslatingCallAction(
      call: callUUID,
      isTranslating: translates,
      localLanguage: local,
      remoteLanguage: remote
    )
  }
}

/// Who translates.
public enum CXTranslationEngine: Int, Sendable {
  /// The system.
  case `default` = 0
  /// The app.
  case custom = 1
}
