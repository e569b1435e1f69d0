import CallState
import Foundation

extension CXAction {
  /// Returns Apple's object for an action that the system itself requests.
  static func object(for action: CallAction) -> CXAction {
    let uuid = action.call.uuid
    switch action.kind {
    case .start(let request):
      return CXStartCallAction(call: uuid, handle: CXHandle(request.handle))
    case .answer:
      return CXAnswerCallAction(call: uuid)
    case .end:
      return CXEndCallAction(call: uuid)
    case .setHeld(let isOnHold):
      return CXSetHeldCallAction(call: uuid, onHold: isOnHold)
    case .setMuted(let isMuted):
      return CXSetMutedCallAction(call: uuid, muted: isMuted)
    case .setGroup(let other):
      return CXSetGroupCallAction(call: uuid, callUUIDToGroupWith: other?.uuid)
    case .playDTMF(let digits, let kind):
      let type = CXPlayDTMFCallAction.ActionType(rawValue: kind.rawValue) ?? .singleTone
      return CXPlayDTMFCallAction(call: uuid, digits: digits, type: type)
    case .unsupported:
      return CXCallAction(call: uuid)
    }
  }
}

extension CXProviderDelegate {
  /// Calls the delegate's method for the action's class.
  func perform(_ action: CXAction, for provider: CXProvider) {
    switch action {
    case let action as CXStartCallAction: self.provider(provider, perform: action)
    case let action as CXAnswerCallAction: self.provider(provider, perform: action)
    case let action as CXEndCallAction: self.provider(provider, perform: action)
    case let action as CXSetHeldCallAction: self.provider(provider, perform: action)
    case let action as CXSetMutedCallAction: self.provider(provider, perform: action)
    case let action as CXSetGroupCallAction: self.provider(provider, perform: action)
    case let action as CXPlayDTMFCallAction: self.provider(provider, perform: action)
    default: action.fail()
    }
  }
}
