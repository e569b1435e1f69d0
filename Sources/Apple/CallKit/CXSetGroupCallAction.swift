import CallState
public import Foundation

/// Groups a call with another, so that all can talk together, or takes it out of its group.
open class CXSetGroupCallAction: CXCallAction {
  /// Call to group with; nil to leave the group.
  open var callUUIDToGroupWith: UUID?

  /// Creates an action that groups a call with another, or takes it out of its group.
  public init(call callUUID: UUID, callUUIDToGroupWith: UUID?) {
    self.callUUIDToGroupWith = callUUIDToGroupWith
    super.init(call: callUUID)
  }

  /// Creates an action from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    callUUIDToGroupWith = coder.decodeUUID(forKey: "callUUIDToGroupWith")
    super.init(coder: coder)
  }

  /// Archives the action's identity and properties.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(callUUIDToGroupWith?.uuidString, forKey: "callUUIDToGroupWith")
  }

  override func duplicate() -> CXAction {
    CXSetGroupCallAction(call: callUUID, callUUIDToGroupWith: callUUIDToGroupWith)
  }

  override var kind: ActionKind { .setGroup(callUUIDToGroupWith.map { CallID($0) }) }
}
