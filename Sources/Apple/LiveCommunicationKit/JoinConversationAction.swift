import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to join a conversation that rings on this device.
public final class JoinConversationAction: ConversationAction, @unchecked Sendable {
  /// Creates a request to join the conversation.
  public init(conversationUUID: UUID) {
    super.init(CXAnswerCallAction(call: conversationUUID))
  }

  /// Creates the equivalent of an action that the system requests.
  init(_ action: CXAnswerCallAction) {
    super.init(action)
  }

  /// Reports that the conversation was joined at the given time.
  public func fulfill(dateConnected: Date) {
    complete { ($0 as? CXAnswerCallAction)?.fulfill(withDateConnected: dateConnected) }
  }
}
