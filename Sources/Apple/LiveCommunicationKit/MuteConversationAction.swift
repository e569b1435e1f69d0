import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// Mutes this side, or lets it be heard again.
public final class MuteConversationAction: ConversationAction, @unchecked Sendable {
  /// True to mute.
  public let isMuted: Bool

  /// Mutes this side in the conversation, or lets it be heard.
  public init(conversationUUID: UUID, isMuted: Bool) {
    self.isMuted = isMuted
    super.init(CXSetMutedCallAction(call: conversationUUID, muted: isMuted))
  }

  /// One that the system asks for.
  init(_ action: CXSetMutedCallAction) {
    isMuted = action.isMuted
    super.init(action, timeoutDate: action.timeoutDate)
  }
}
