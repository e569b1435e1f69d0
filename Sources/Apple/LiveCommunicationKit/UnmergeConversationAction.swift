import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// Takes a conversation out of a merged one.
public final class UnmergeConversationAction: ConversationAction, @unchecked Sendable {
  /// Takes the conversation out.
  public init(conversationUUID: UUID) {
    super.init(CXSetGroupCallAction(call: conversationUUID, callUUIDToGroupWith: nil))
  }

  /// One that the system asks for.
  init(_ action: CXSetGroupCallAction) {
    super.init(action, timeoutDate: action.timeoutDate)
  }
}
