import CallState
import MediaCore

/// A call control with one provider, at a time that stands still.
struct RingingCalls {
  var control = CallControl()
  let provider: ProviderID
  let now = Moment(
    instant: MonotonicInstant(nanoseconds: 0),
    date: CallDate(secondsSince1970: 0)
  )

  init(icon: [UInt8]? = nil) {
    provider = control.addProvider(ProviderSettings(supportedHandleKinds: [.generic], icon: icon))
    control.setHasDelegate(provider, true)
  }

  mutating func ring(_ id: CallID, name: String? = nil, handle: String? = nil) throws {
    var update = CallUpdate()
    if let name { update.callerName = .set(name) }
    if let handle { update.remoteHandle = .set(CallHandle(kind: .generic, value: handle)) }
    try control.reportIncoming(id, update, of: provider, at: now)
  }

  mutating func hangUp(_ id: CallID) -> [CallRecord] {
    control.reportEnded(id, of: provider, reason: .remoteEnded, at: now)
    var records: [CallRecord] = []
    while let effect = control.nextEffect() {
      if case .recorded(let record) = effect { records.append(record) }
    }
    return records
  }

  /// Fulfils the first pending action, as the app would.
  mutating func fulfil() {
    guard let action = control.pendingActions.first else { return }
    control.answer(action.id, isFulfilled: true, at: now)
  }
}
