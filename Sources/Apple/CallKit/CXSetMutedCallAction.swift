import CallState
public import Foundation

/// Mutes a call, so that silence is sent in place of the microphone, or unmutes it.
open class CXSetMutedCallAction: CXCallAction {
  /// True to mute.
  open var isMuted: Bool

  /// Creates an action that mutes or unmutes the given call.
  public init(call callUUID: UUID, muted: Bool) {
    isMuted = muted
    super.init(call: callUUID)
  }

  /// Creates an action from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    isMuted = coder.decodeBool(forKey: "muted")
    super.init(coder: coder)
  }

  /// Archives the action's identity and properties.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(isMuted, forKey: "muted")
  }

  override func duplicate() -> CXAction { CXSetMutedCallAction(call: callUUID, muted: isMuted) }

  override var kind: ActionKind { .setMuted(isMuted) }
}
