import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to merge a conversation with another.
public final class MergeConversationAction: ConversationAction, @unchecked Sendable {
  /// Identity of the other conversation.
  public let conversationUUIDToMergeWith: UUID

  /// Creates a request to merge both conversations.
  public init(conversationUUID: UUID, conversationUUIDToMergeWith: UUID) {
    self.conversationUUIDToMergeWith = conversationUUIDToMergeWith
    super.init(
      CXSetGroupCallAction(
        call: conversationUUID,
        callUUIDToGroupWith: conversationUUIDToMergeWith
      )
    )
  }

  /// Creates the equivalent of an action that the system requests; nil if that ungroups the call.
  init?(_ action: CXSetGroupCallAction) {
    guard let other = action.callUUIDToGroupWith else { return nil }
    conversationUUIDToMergeWith = other
    super.init(action)
  }
}
