import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// Joins a conversation with another.
public final class MergeConversationAction: ConversationAction, @unchecked Sendable {
  /// The other conversation.
  public let conversationUUIDToMergeWith: UUID

  /// Joins both conversations.
  public init(conversationUUID: UUID, conversationUUIDToMergeWith: UUID) {
    self.conversationUUIDToMergeWith = conversationUUIDToMergeWith
    super.init(
      CXSetGroupCallAction(
        call: conversationUUID,
        callUUIDToGroupWith: conversationUUIDToMergeWith
      )
    )
  }

  /// One that the system asks for; nil if it takes the call out of its group.
  init?(_ action: CXSetGroupCallAction) {
    guard let other = action.callUUIDToGroupWith else { return nil }
    conversationUUIDToMergeWith = other
    super.init(action, timeoutDate: action.timeoutDate)
  }
}
