import CallKit

/// The app's calls, and the requests that its own screens make.
final class ActiveCalls {
  static let callsChangedNotification = Notification.Name("ActiveCallsChanged")

  private let callController = CXCallController(queue: .main)
  private(set) var calls: [ActiveCall] = []

  // MARK: Requests

  func startCall(handle: String, isVideo: Bool = false) {
    let handle = CXHandle(type: .generic, value: handle)
    let action = CXStartCallAction(call: UUID(), handle: handle)
    action.isVideo = isVideo
    let transaction = CXTransaction()
    transaction.addAction(action)
    request(transaction)
  }

  func end(call: ActiveCall) {
    request(CXTransaction(action: CXEndCallAction(call: call.uuid)))
  }

  func answer(call: ActiveCall) {
    request(CXTransaction(action: CXAnswerCallAction(call: call.uuid)))
  }

  func setHeld(call: ActiveCall, onHold: Bool) {
    request(CXTransaction(action: CXSetHeldCallAction(call: call.uuid, onHold: onHold)))
  }

  func setMuted(call: ActiveCall, muted: Bool) {
    request(CXTransaction(action: CXSetMutedCallAction(call: call.uuid, muted: muted)))
  }

  private func request(_ transaction: CXTransaction) {
    callController.request(transaction) { error in
      guard let error = error as? CXErrorCodeRequestTransactionError else { return }
      switch error.code {
      case .maximumCallGroupsReached: print("There are too many calls.")
      case .unknownCallUUID: print("The call is over.")
      default: print("The request was refused: \(error.code)")
      }
    }
  }

  // MARK: Calls

  func call(with uuid: UUID) -> ActiveCall? {
    calls.first { $0.uuid == uuid }
  }

  func add(_ call: ActiveCall) {
    calls.append(call)
    call.stateDidChange = { [weak self] in self?.postCallsChanged() }
    postCallsChanged()
  }

  func remove(_ call: ActiveCall) {
    calls.removeAll { $0 === call }
    postCallsChanged()
  }

  func removeAll() {
    calls.removeAll()
    postCallsChanged()
  }

  private func postCallsChanged() {
    NotificationCenter.default.post(name: Self.callsChangedNotification, object: self)
  }
}
