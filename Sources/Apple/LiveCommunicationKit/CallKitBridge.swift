import AVFAudio
import CallKit

/// Forwards CallKit's callbacks to a manager, on the main queue.
final class CallKitBridge: NSObject, CXProviderDelegate, CXCallObserverDelegate {
  weak var manager: ConversationManager?

  func providerDidBegin(_ provider: CXProvider) { manager?.noteBegin() }

  func providerDidReset(_ provider: CXProvider) { manager?.noteReset() }

  func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool {
    // One way for all kinds of action, and in their order.
    for case let action as CXCallAction in transaction.actions {
      if let manager { manager.deliver(action) } else { action.fail() }
    }
    return true
  }

  func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {
    if let action = action as? CXCallAction { manager?.noteTimeOut(of: action) }
  }

  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    manager?.noteActivation(of: audioSession)
  }

  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
    manager?.noteDeactivation(of: audioSession)
  }

  func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
    manager?.noteChange(of: call)
  }
}
