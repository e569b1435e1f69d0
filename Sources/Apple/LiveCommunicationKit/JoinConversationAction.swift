import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// Joins a conversation that rings here.
public final class JoinConversationAction: ConversationAction, @unchecked Sendable {
  /// Joins the conversation.
  public init(conversationUUID: UUID) {
    super.init(CXAnswerCallAction(call: conversationUUID))
  }

  /// One that the system asks for.
  init(_ action: CXAnswerCallAction) {
    super.init(action, timeoutDate: action.timeoutDate)
  }

  /// The conversation was joined at that time.
  public func fulfill(dateConnected: Date) {
    complete { ($0 as? CXAnswerCallAction)?.fulfill(withDateConnected: dateConnected) }
  }
}
