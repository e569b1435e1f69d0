import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// Puts a conversation on hold, or takes it back.
public final class PauseConversationAction: ConversationAction, @unchecked Sendable {
  /// True to put it on hold.
  public let isPaused: Bool

  /// Puts the conversation on hold, or takes it back.
  public init(conversationUUID: UUID, isPaused: Bool) {
    self.isPaused = isPaused
    super.init(CXSetHeldCallAction(call: conversationUUID, onHold: isPaused))
  }

  /// One that the system asks for.
  init(_ action: CXSetHeldCallAction) {
    isPaused = action.isOnHold
    super.init(action, timeoutDate: action.timeoutDate)
  }
}
