import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// Sends tones.
public final class PlayToneAction: ConversationAction, @unchecked Sendable {
  /// Where the tones come from.
  public enum Tone: Int, Hashable, Sendable {
    /// The user pressed a key.
    case single
    /// Digits that are sent after a pause.
    case softPause
    /// Digits that are sent when the user goes on.
    case hardPause
  }

  /// What is sent: 0 to 9, `*`, `#`.
  public let digits: String
  /// Where the tones come from.
  public let tone: Tone

  /// Sends the digits in the conversation.
  public init(conversationUUID: UUID, digits: String, tone: Tone) {
    self.digits = digits
    self.tone = tone
    let type: CXPlayDTMFCallAction.ActionType =
      switch tone {
      case .single: .singleTone
      case .softPause: .softPause
      case .hardPause: .hardPause
      }
    super.init(CXPlayDTMFCallAction(call: conversationUUID, digits: digits, type: type))
  }

  /// One that the system asks for.
  init(_ action: CXPlayDTMFCallAction) {
    digits = action.digits
    tone =
      switch action.type {
      case .singleTone: .single
      case .softPause: .softPause
      case .hardPause: .hardPause
      }
    super.init(action, timeoutDate: action.timeoutDate)
  }
}
