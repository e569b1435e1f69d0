import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to mute this side, or to unmute it.
public final class MuteConversationAction: ConversationAction, @unchecked Sendable {
  /// True to mute.
  public let isMuted: Bool

  /// Creates a request to mute this side in the conversation, or to unmute it.
  public init(conversationUUID: UUID, isMuted: Bool) {
    self.isMuted = isMuted
    super.init(CXSetMutedCallAction(call: conversationUUID, muted: isMuted))
  }

  /// Creates the equivalent of an action that the system requests.
  init(_ action: CXSetMutedCallAction) {
    isMuted = action.isMuted
    super.init(action)
  }
}
