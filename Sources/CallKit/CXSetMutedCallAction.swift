import CallState
public import Foundation

/// Mutes a call, or unmutes it.
open class CXSetMutedCallAction: CXCallAction {
  /// True to send silence.
  open var isMuted: Bool

  /// Mutes or unmutes the given call.
  public init(call callUUID: UUID, muted: Bool) {
    isMuted = muted
    super.init(call: callUUID)
  }

  override var kind: ActionKind? { .setMuted(isMuted) }
}
