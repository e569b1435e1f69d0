import CallState
public import Foundation

/// Sends silence instead of the microphone, or the microphone again.
open class CXSetMutedCallAction: CXCallAction {
  /// True to mute.
  open var isMuted: Bool

  /// Mutes or unmutes the given call.
  public init(call callUUID: UUID, muted: Bool) {
    isMuted = muted
    super.init(call: callUUID)
  }

  /// An action from an archive; nil if it holds none.
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
