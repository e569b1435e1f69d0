public import AVFAudio

/// Performs requests of the user and the system, and is notified of changes.
///
/// Differs from Apple's, which does not specify the thread: every method is called on the main
/// queue.
public protocol ConversationManagerDelegate: AnyObject {
  /// Tells the delegate that the manager can be used.
  func conversationManagerDidBegin(_ manager: ConversationManager)
  /// Tells the delegate that every conversation and action is void: stop the voice and forget them.
  func conversationManagerDidReset(_ manager: ConversationManager)
  /// Tells the delegate that the state of a conversation changed.
  func conversationManager(
    _ manager: ConversationManager,
    conversationChanged conversation: Conversation
  )
  /// Asks the delegate to perform the action, then to fulfill or fail it.
  func conversationManager(_ manager: ConversationManager, perform action: ConversationAction)
  /// Tells the delegate that the action was not answered in time.
  func conversationManager(
    _ manager: ConversationManager,
    timedOutPerforming action: ConversationAction
  )
  /// Tells the delegate that the audio session is active: the voice may start.
  func conversationManager(
    _ manager: ConversationManager,
    didActivate audioSession: AVAudioSession
  )
  /// Tells the delegate that the audio session is inactive and the voice has stopped.
  func conversationManager(
    _ manager: ConversationManager,
    didDeactivate audioSession: AVAudioSession
  )
}
