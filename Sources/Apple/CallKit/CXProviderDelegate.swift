public import AVFAudio
public import Foundation

/// Performs actions that the user and the system request.
///
/// Every method runs on the queue given with the delegate. All but `providerDidReset` are optional:
/// they have default implementations, of which those that perform an action fail it.
public protocol CXProviderDelegate: NSObjectProtocol {
  /// Tells the delegate that every call and pending action is void: stop the voice and forget them.
  func providerDidReset(_ provider: CXProvider)
  /// Tells the delegate that the provider can be used.
  func providerDidBegin(_ provider: CXProvider)
  /// Offers the delegate a whole transaction; returns true if the delegate handles it, so that its
  /// actions are not delivered one by one.
  func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool
  /// Asks the delegate to place the call.
  func provider(_ provider: CXProvider, perform action: CXStartCallAction)
  /// Asks the delegate to answer the call.
  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction)
  /// Asks the delegate to end the call.
  func provider(_ provider: CXProvider, perform action: CXEndCallAction)
  /// Asks the delegate to hold or resume the call.
  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction)
  /// Asks the delegate to mute or unmute the call.
  func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction)
  /// Asks the delegate to group the call with another, or to take it out of its group.
  func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction)
  /// Asks the delegate to send DTMF digits.
  func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction)
  /// Asks the delegate to translate the call; never called here.
  func provider(_ provider: CXProvider, perform action: CXSetTranslatingCallAction)
  /// Tells the delegate that it did not answer the action in time, and must not answer it now.
  func provider(_ provider: CXProvider, timedOutPerforming action: CXAction)
  /// Tells the delegate that the audio session is active: the voice may start.
  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession)
  /// Tells the delegate that the audio session is inactive and the voice has stopped.
  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession)
  /// Tells the delegate that the audio session could not be activated.
  ///
  /// The calls that need it are about to be ended, or held if they were on hold before. Differs
  /// from Apple's: there the hardware is always available.
  func provider(
    _ provider: CXProvider,
    failedToActivate audioSession: AVAudioSession,
    error: any Error
  )
}

extension CXProviderDelegate {
  /// Does nothing.
  public func providerDidBegin(_ provider: CXProvider) {}
  /// Returns false: each action is performed by its own method.
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
