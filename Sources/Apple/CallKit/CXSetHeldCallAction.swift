import CallState
public import Foundation

/// Holds a call, or resumes it.
open class CXSetHeldCallAction: CXCallAction {
  /// True to hold, false to resume.
  open var isOnHold: Bool

  /// Creates an action that holds or resumes the given call.
  public init(call callUUID: UUID, onHold: Bool) {
    isOnHold = onHold
    super.init(call: callUUID)
  }

  /// Creates an action from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    isOnHold = coder.decodeBool(forKey: "onHold")
    super.init(coder: coder)
  }

  /// Archives the action's identity and properties.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(isOnHold, forKey: "onHold")
  }

  override func duplicate() -> CXAction { CXSetHeldCallAction(call: callUUID, onHold: isOnHold) }

  override var kind: ActionKind { .setHeld(isOnHold) }
}
