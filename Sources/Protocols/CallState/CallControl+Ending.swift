import MediaCore

/// Endings of calls, and the records of them for the list of recent calls.
extension CallControl {
  mutating func deliverEnd(_ id: CallID, at now: Moment) {
    let isAsked = pendingActions.contains { $0.call == id && $0.kind == .end }
    guard let call = calls.first(where: { $0.id == id }), !isAsked else { return }
    deliver([.init(call: id, provider: call.provider, kind: .end)], origin: .system, at: now)
  }

  /// Cause of a call's end.
  enum EndCause: Equatable {
    case action(ActionOrigin)
    case failedAction
    case reported(EndedReason)
  }

  mutating func end(_ id: CallID, _ cause: EndCause, at date: CallDate) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    let before = calls.remove(at: index)
    var call = before
    call.ended()
    if let group = call.group { dissolveIfSingle(group) }
    askedToHold.forget(id)
    heldForOtherPrograms.remove(id)
    void { $0.call == id }
    effects.append(.callChanged(call.snapshot))
    guard let provider = providers.first(where: { $0.id == call.provider }),
      provider.settings.includesCallsInRecents
    else { return }
    effects.append(
      .recorded(
        CallRecord(
          id: id,
          provider: call.provider,
          app: provider.settings.name,
          icon: provider.settings.icon,
          isOutgoing: call.isOutgoing,
          details: call.details,
          started: call.started,
          connected: call.connected,
          ended: date,
          result: Self.result(of: before, cause),
          canBeCalledBack: call.details.remoteHandle.map {
            provider.settings.supportedHandleKinds.contains($0.kind)
          } ?? false
        )
      )
    )
  }

  private static func result(of call: Call, _ cause: EndCause) -> CallResult {
    switch cause {
    case .reported(.failed), .failedAction: .failed
    case _ where call.hasConnected: .talked
    case .reported(.answeredElsewhere): .answeredElsewhere
    case .reported(.declinedElsewhere): .declinedElsewhere
    case .reported: call.isOutgoing ? .unanswered : .missed
    case .action(.system) where call.phase == .answering: .failed
    case .action(.system): call.isOutgoing ? .cancelled : .missed
    case .action: call.isOutgoing ? .cancelled : .declined
    }
  }
}
