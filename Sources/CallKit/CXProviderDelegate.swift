public import AVFAudio
public import Foundation

/// Performs what the user and the system want.
///
/// Every method runs on the queue given with the delegate.
public protocol CXProviderDelegate: NSObjectProtocol {
  /// Every call and pending action is void: stop the voice and forget them.
  func providerDidReset(_ provider: CXProvider)
  /// The provider can be used.
  func providerDidBegin(_ provider: CXProvider)
  /// Asked before the actions of a transaction: true takes them all over.
  func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool
  /// Place the call.
  func provider(_ provider: CXProvider, perform action: CXStartCallAction)
  /// Take the call.
  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
  /// End the call.
  func provider(_ provider: CXProvider, perform action: CXEndCallAction)
  /// Mute or unmute the call.
  func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction)
  /// The app did not answer the action in time; do not answer it now.
  func provider(_ provider: CXProvider, timedOutPerforming action: CXAction)
  /// The session is active: the voice may start.
  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession)
  /// The session is inactive: the voice has stopped.
  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession)
  /// The session could not be activated; the calls that need it are about to be ended.
  ///
  /// Differs from Apple's: there the hardware is always to be had.
  func provider(
    _ provider: CXProvider,
    failedToActivate audioSession: AVAudioSession,
    error: any Error
  )
}

extension CXProviderDelegate {
  /// Does nothing.
  public func providerDidBegin(_ provider: CXProvider) {}
  /// Leaves the actions to their own methods.
  public func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool { false }
  /// Fails the action.
  public func provider(_ provider: CXProvider, perform action: CXStartCallAction) { action.fail() }
  /// Fails the action.
  public func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { action.fail() }
  /// Fails the action.
  public func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fail() }
  /// Fails the action.
  public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
    action.fail()
  }
  /// Does nothing.
  public func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) {}
  /// Does nothing.
  public func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {}
  /// Does nothing.
  public func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {}
  /// Does nothing.
  public func provider(
    _ provider: CXProvider,
    failedToActivate audioSession: AVAudioSession,
    error: any Error
  ) {}
}
