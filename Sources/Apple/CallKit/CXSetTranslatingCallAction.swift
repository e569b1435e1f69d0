public import Foundation

/// Translates a call's speech, or stops doing so.
///
/// Differs from Apple's: it exists so that apps compile. Nothing here translates, so it is never
/// delivered, and a request for it is refused as an invalid action.
open class CXSetTranslatingCallAction: CXCallAction {
  private let translates: Bool
  private let local: String
  private let remote: String

  /// Creates an action that translates between two languages, named by their BCP 47 tags.
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

  /// Creates an action from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    translates = coder.decodeBool(forKey: "translating")
    local = coder.decodeText(forKey: "localLanguage") ?? ""
    remote = coder.decodeText(forKey: "remoteLanguage") ?? ""
    super.init(coder: coder)
  }

  /// True to translate.
  open var isTranslating: Bool { translates }
  /// BCP 47 tag of the user's language.
  open var localLanguage: String { local }
  /// BCP 47 tag of the remote party's language.
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

/// Engine of a translation.
public enum CXTranslationEngine: Int, Sendable {
  /// The system.
  case `default` = 0
  /// The app.
  case custom = 1
}
