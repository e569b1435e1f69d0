import AVFAudio
import CallKit
import Foundation
import RTP

/// A request or event from the call system to the phone.
enum CallSystemInput: Sendable {
  case perform(PhoneCallRequest, Delivered)
  /// Joins the action's call with another one, or separates it.
  case setGroup(with: UUID?, Delivered)
  case didActivate
  case didDeactivate
  case failedToActivate(String)
  case didReset
}

/// An action on its way from the call system's queue to the phone.
// SAFETY: an action's own state is behind a mutex, and its properties do not change once requested.
struct Delivered: @unchecked Sendable {
  let action: CXCallAction
}

/// Forwards the call system's requests and events to the phone, in order.
final class PhoneDelegate: NSObject, CXProviderDelegate {
  private let forward: @Sendable (CallSystemInput) -> Void

  init(forward: @escaping @Sendable (CallSystemInput) -> Void) {
    self.forward = forward
  }

  private func forward(_ request: PhoneCallRequest, _ action: CXCallAction) {
    forward(.perform(request, Delivered(action: action)))
  }

  func providerDidReset(_ provider: CXProvider) {
    forward(.didReset)
  }

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    forward(.start(uri: action.handle.value), action)
  }

  func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
    forward(.answer, action)
  }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
    forward(.end, action)
  }

  func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
    forward(.setMuted(action.isMuted), action)
  }

  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
    forward(.setHeld(action.isOnHold), action)
  }

  func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) {
    forward(.setGroup(with: action.callUUIDToGroupWith, Delivered(action: action)))
  }

  func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) {
    forward(.playDTMF(action.digits.compactMap { TelephoneEvent.code(of: $0) }), action)
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
