import CallKit
public import Foundation

// SAFETY: what it adds to its class does not change.
/// A request to send DTMF digits.
public final class PlayToneAction: ConversationAction, @unchecked Sendable {
  /// Reason why DTMF digits are sent.
  public enum Tone: Int, Hashable, Sendable {
    /// A key that the user pressed.
    case single
    /// Digits of a dial string that are sent after a pause.
    case softPause
    /// Digits of a dial string that are sent once the user continues.
    case hardPause
  }

  /// DTMF digits to send: 0 to 9, `*`, `#`, A to D.
  public let digits: String
  /// Reason why the digits are sent.
  public let tone: Tone

  /// Creates a request to send the digits in the conversation.
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

  /// Creates the equivalent of an action that the system requests.
  init(_ action: CXPlayDTMFCallAction) {
    digits = action.digits
    tone =
      switch action.type {
      case .singleTone: .single
      case .softPause: .softPause
      case .hardPause: .hardPause
      }
    super.init(action)
  }
}
