import CallKit

/// The app's calls, and the requests that its own screens make: `ActiveCallManager` on the
/// documentation page *CallKit in Xamarin.iOS*.
///
/// A request changes nothing by itself. The system checks it, then the `ProviderDelegate` performs
/// its action.
@MainActor
final class ActiveCallManager {
  /// Called when a call has come, changed or gone.
  var callsChanged: (() -> Void)?

  private let callController = CXCallController(queue: .main)
  private(set) var calls: [ActiveCall] = []

  // MARK: Calls

  func findCall(_ uuid: UUID) -> ActiveCall? { calls.first { $0.uuid == uuid } }

  func add(_ call: ActiveCall) {
    calls.append(call)
    callsChanged?()
  }

  func remove(_ call: ActiveCall) {
    calls.removeAll { $0 === call }
    callsChanged?()
  }

  // MARK: Requests

  func startCall(_ contact: String) {
    let handle = CXHandle(type: .generic, value: contact)
    send(CXTransaction(action: CXStartCallAction(call: UUID(), handle: handle)))
  }

  func answerCall(_ call: ActiveCall) {
    send(CXTransaction(action: CXAnswerCallAction(call: call.uuid)))
  }

  func endCall(_ call: ActiveCall) {
    send(CXTransaction(action: CXEndCallAction(call: call.uuid)))
  }

  func placeCallOnHold(_ call: ActiveCall) {
    send(CXTransaction(action: CXSetHeldCallAction(call: call.uuid, onHold: true)))
  }

  func removeCallFromOnHold(_ call: ActiveCall) {
    send(CXTransaction(action: CXSetHeldCallAction(call: call.uuid, onHold: false)))
  }

  func setMuted(_ call: ActiveCall, _ isMuted: Bool) {
    send(CXTransaction(action: CXSetMutedCallAction(call: call.uuid, muted: isMuted)))
  }

  private func send(_ transaction: CXTransaction) {
    callController.request(transaction) { error in
      guard let error = error as? CXErrorCodeRequestTransactionError else { return }
      switch error.code {
      case .maximumCallGroupsReached: print("There are too many calls.")
      case .unknownCallUUID: print("The call is over.")
      default: print("The request was refused: \(error.code)")
      }
    }
  }
}
