import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to leave or decline a conversation.
public final class EndConversationAction: ConversationAction, @unchecked Sendable {
  /// Creates a request to leave the conversation.
  public init(conversationUUID: UUID) {
    super.init(CXEndCallAction(call: conversationUUID))
  }

  /// Creates the equivalent of an action that the system requests.
  init(_ action: CXEndCallAction) {
    super.init(action)
  }

  /// Reports that the conversation was left at the given time.
  public func fulfill(dateEnded: Date) {
    complete { ($0 as? CXEndCallAction)?.fulfill(withDateEnded: dateEnded) }
  }
}
