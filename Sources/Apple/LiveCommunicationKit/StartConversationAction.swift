import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to start a conversation.
public final class StartConversationAction: ConversationAction, @unchecked Sendable {
  /// Parties to call.
  public let handles: [Handle]
  /// True to start with video.
  public let isVideo: Bool

  /// Creates a request to start the conversation of that identity, which the app chooses.
  public init(conversationUUID: UUID, handles: [Handle], isVideo: Bool) {
    self.handles = handles
    self.isVideo = isVideo
    let first = handles.first ?? Handle(type: .generic, value: "")
    let action = CXStartCallAction(call: conversationUUID, handle: CXHandle(first))
    action.isVideo = isVideo
    super.init(action)
  }

  /// Creates the equivalent of an action that the system requests.
  init(_ action: CXStartCallAction) {
    handles = [Handle(action.handle)]
    isVideo = action.isVideo
    super.init(action)
  }

  /// Reports that the conversation was started at the given time.
  public func fulfill(dateStarted: Date) {
    complete { ($0 as? CXStartCallAction)?.fulfill(withDateStarted: dateStarted) }
  }
}
