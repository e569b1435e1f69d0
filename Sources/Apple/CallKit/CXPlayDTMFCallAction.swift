import CallState
public import Foundation

/// Sends tones on a call.
open class CXPlayDTMFCallAction: CXCallAction {
  /// Where the tones come from.
  public enum ActionType: Int, Sendable {
    /// The user pressed a key.
    case singleTone = 1
    /// Digits behind a comma, sent after a pause.
    case softPause = 2
    /// Digits behind a semicolon, sent when the user goes on.
    case hardPause = 3
  }

  /// The tones: 0 to 9, `*`, `#`, A to D.
  open var digits: String
  /// Where they come from.
  open var type: ActionType

  /// Sends `digits` on the given call.
  public init(call callUUID: UUID, digits: String, type: ActionType) {
    self.digits = digits
    self.type = type
    super.init(call: callUUID)
  }

  /// An action from an archive; nil if it holds none.
  public required init?(coder: NSCoder) {
    digits = coder.decodeText(forKey: "digits") ?? ""
    type = ActionType(rawValue: coder.decodeInteger(forKey: "type")) ?? .singleTone
    super.init(coder: coder)
  }

  /// Archives the action's identity and properties.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(digits, forKey: "digits")
    coder.encode(type.rawValue, forKey: "type")
  }

  override func duplicate() -> CXAction {
    CXPlayDTMFCallAction(call: callUUID, digits: digits, type: type)
  }

  override var kind: ActionKind {
    .playDTMF(digits: digits, DTMFKind(rawValue: type.rawValue) ?? .singleTone)
  }
}
