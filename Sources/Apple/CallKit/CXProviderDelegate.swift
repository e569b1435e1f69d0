public import AVFAudio
public import Foundation

/// Performs what the user and the system want.
///
/// Every method runs on the queue given with the delegate. All but `providerDidReset` are optional:
/// they have default implementations, of which those that perform an action fail it.
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
  /// Hold or resume the call.
  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction)
  /// Mute or unmute the call.
  func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction)
  /// Join the call with another, or take it out of its group.
  func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction)
  /// Send tones.
  func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction)
  /// Translate the call; never asked here.
  func provider(_ provider: CXProvider, perform action: CXSetTranslatingCallAction)
  /// The app did not answer the action in time; do not answer it now.
  func provider(_ provider: CXProvider, timedOutPerforming action: CXAction)
  /// The session is active: the voice may start.
  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession)
  /// The session is inactive: the voice has stopped.
  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession)
  /// The session could not be activated; the calls that need it are about to be ended, or held if
  /// they were on hold before.
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
  public func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
    action.fail()
  }
  /// Fails the action.
  public func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
    action.fail()
  }
  /// Fails the action.
  public func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
    action.fail()
  }
  /// Fails the action.
  public func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
    action.fail()
  }
  /// Fails the action.
  public func provider(_ provider: CXProvider, perform action: CXSetTranslatingCallAction) {
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
