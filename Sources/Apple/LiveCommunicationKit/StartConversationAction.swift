import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// Starts a conversation.
public final class StartConversationAction: ConversationAction, @unchecked Sendable {
  /// Who is to be reached.
  public let handles: [Handle]
  /// Whether it is to have pictures.
  public let isVideo: Bool

  /// Starts the conversation of that identity, which the app chooses.
  public init(conversationUUID: UUID, handles: [Handle], isVideo: Bool) {
    self.handles = handles
    self.isVideo = isVideo
    let first = handles.first ?? Handle(type: .generic, value: "")
    let action = CXStartCallAction(call: conversationUUID, handle: CXHandle(first))
    action.isVideo = isVideo
    super.init(action)
  }

  /// One that the system asks for.
  init(_ action: CXStartCallAction) {
    handles = [Handle(action.handle)]
    isVideo = action.isVideo
    super.init(action, timeoutDate: action.timeoutDate)
  }

  /// The conversation was started at that time.
  public func fulfill(dateStarted: Date) {
    complete { ($0 as? CXStartCallAction)?.fulfill(withDateStarted: dateStarted) }
  }
}
