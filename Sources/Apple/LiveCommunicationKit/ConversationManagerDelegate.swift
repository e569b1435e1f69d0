public import AVFAudio

/// Performs what the user and the system want, and hears what changes.
///
/// Differs from Apple's, which does not say on which thread it calls: every method runs on the main
/// queue.
public protocol ConversationManagerDelegate: AnyObject {
  /// The manager can be used.
  func conversationManagerDidBegin(_ manager: ConversationManager)
  /// Every conversation and action is void: stop the voice and forget them.
  func conversationManagerDidReset(_ manager: ConversationManager)
  /// A conversation has another state.
  func conversationManager(
    _ manager: ConversationManager,
    conversationChanged conversation: Conversation
  )
  /// Perform the action, then fulfill or fail it.
  func conversationManager(_ manager: ConversationManager, perform action: ConversationAction)
  /// The action was not answered in time.
  func conversationManager(
    _ manager: ConversationManager,
    timedOutPerforming action: ConversationAction
  )
  /// The session is active: the voice may start.
  func conversationManager(
    _ manager: ConversationManager,
    didActivate audioSession: AVAudioSession
  )
  /// The session is inactive: the voice has stopped.
  func conversationManager(
    _ manager: ConversationManager,
    didDeactivate audioSession: AVAudioSession
  )
}
