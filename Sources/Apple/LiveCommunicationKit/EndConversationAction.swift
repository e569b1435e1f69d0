import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// Leaves a conversation, or declines it.
public final class EndConversationAction: ConversationAction, @unchecked Sendable {
  /// Leaves the conversation.
  public init(conversationUUID: UUID) {
    super.init(CXEndCallAction(call: conversationUUID))
  }

  /// One that the system asks for.
  init(_ action: CXEndCallAction) {
    super.init(action, timeoutDate: action.timeoutDate)
  }

  /// The conversation was left at that time.
  public func fulfill(dateEnded: Date) {
    complete { ($0 as? CXEndCallAction)?.fulfill(withDateEnded: dateEnded) }
  }
}
