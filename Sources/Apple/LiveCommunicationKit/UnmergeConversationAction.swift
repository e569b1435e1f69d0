import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to take a conversation out of a merged one.
public final class UnmergeConversationAction: ConversationAction, @unchecked Sendable {
  /// Creates a request to take the conversation out.
  public init(conversationUUID: UUID) {
    super.init(CXSetGroupCallAction(call: conversationUUID, callUUIDToGroupWith: nil))
  }

  /// Creates the equivalent of an action that the system requests.
  init(_ action: CXSetGroupCallAction) {
    super.init(action)
  }
}
