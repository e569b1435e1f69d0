import CallState
public import Foundation

/// Sends DTMF digits on a call.
open class CXPlayDTMFCallAction: CXCallAction {
  /// Reason why DTMF digits are sent.
  public enum ActionType: Int, Sendable {
    /// A key that the user pressed.
    case singleTone = 1
    /// Digits after a comma in a dial string, sent after a pause.
    case softPause = 2
    /// Digits after a semicolon in a dial string, sent once the user continues.
    case hardPause = 3
  }

  /// DTMF digits to send: 0 to 9, `*`, `#`, A to D.
  open var digits: String
  /// Reason why the digits are sent.
  open var type: ActionType

  /// Creates an action that sends `digits` on the given call.
  public init(call callUUID: UUID, digits: String, type: ActionType) {
    self.digits = digits
    self.type = type
    super.init(call: callUUID)
  }

  /// Creates an action from an archive; nil if the archive holds none.
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
