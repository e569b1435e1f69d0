import AVFAudio
import CallKit
import Foundation

/// What reaches the phone from the call system.
enum CallSystemInput: Sendable {
  case start(Delivered<CXStartCallAction>)
  case answer(Delivered<CXAnswerCallAction>)
  case end(Delivered<CXEndCallAction>)
  case setMuted(Delivered<CXSetMutedCallAction>)
  case setHeld(Delivered<CXSetHeldCallAction>)
  case setGroup(Delivered<CXSetGroupCallAction>)
  case playDTMF(Delivered<CXPlayDTMFCallAction>)
  case didActivate
  case didDeactivate
  case failedToActivate(String)
  case didReset
}

/// An action on its way from the call system's queue to the phone.
// SAFETY: an action's own state is behind a mutex, and its properties do not change once requested.
struct Delivered<Action: CXCallAction>: @unchecked Sendable {
  let action: Action
}

/// Forwards what the call system wants to the phone, in order.
final class PhoneDelegate: NSObject, CXProviderDelegate {
  private let forward: @Sendable (CallSystemInput) -> Void

  init(forward: @escaping @Sendable (CallSystemInput) -> Void) {
    self.forward = forward
  }

  func providerDidReset(_ provider: CXProvider) {
    forward(.didReset)
  }

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    forward(.start(Delivered(action: action)))
  }

  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
    forward(.answer(Delivered(action: action)))
  }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
    forward(.end(Delivered(action: action)))
  }

  func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
    forward(.setMuted(Delivered(action: action)))
  }

  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
    forward(.setHeld(Delivered(action: action)))
  }

  func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
    forward(.setGroup(Delivered(action: action)))
  }

  func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
    forward(.playDTMF(Delivered(action: action)))
  }

  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    forward(.didActivate)
  }

  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
    forward(.didDeactivate)
  }

  func provider(
    _ provider: CXProvider,
    failedToActivate audioSession: AVAudioSession,
    error: any Error
  ) {
    forward(.failedToActivate("\(error)"))
  }
}
