import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to put a conversation on hold, or to resume it.
public final class PauseConversationAction: ConversationAction, @unchecked Sendable {
  /// True to hold, false to resume.
  public let isPaused: Bool

  /// Creates a request to put the conversation on hold, or to resume it.
  public init(conversationUUID: UUID, isPaused: Bool) {
    self.isPaused = isPaused
    super.init(CXSetHeldCallAction(call: conversationUUID, onHold: isPaused))
  }

  /// Creates the equivalent of an action that the system requests.
  init(_ action: CXSetHeldCallAction) {
    isPaused = action.isOnHold
    super.init(action)
  }
}
