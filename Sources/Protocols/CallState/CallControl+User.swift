/// An option of the user for an incoming call.
package enum AnswerChoice: Equatable, Sendable {
  /// Answer it; the active call is held, or ended if it cannot be held.
  case answer
  /// Hold the active call and answer.
  case holdAndAnswer
  /// End the active call and answer.
  case endAndAnswer
  /// End the held call, hold the active one, and answer.
  case endHeldAndAnswer
  /// Decline it.
  case decline
}

/// A decision of the user on the system's call screen.
package enum UserDecision: Equatable, Sendable {
  /// Answer or decline an incoming call.
  case incoming(CallID, AnswerChoice)
  /// End a call.
  case end(CallID)
  /// Hold or resume a call.
  case setHeld(CallID, Bool)
  /// Hold the active call and resume this one (R74).
  case swap(to: CallID)
  /// Mute or unmute a call.
  case setMuted(CallID, Bool)
  /// Group two calls, so that all can talk together.
  case merge(CallID, CallID)
  /// Take a call out of its group, to talk to it alone.
  case separate(CallID)
  /// Send DTMF digits.
  case press(CallID, digits: String)
}

extension CallControl {
  /// Carries out a decision of the user, by actions that the apps of the calls perform.
  ///
  /// Returns false, and does nothing, if the decision no longer suits the calls.
  @discardableResult
  package mutating func decide(_ decision: UserDecision, at now: Moment) -> Bool {
    let requests = requests(for: decision)
    do throws(TransactionRefusal) {
      _ = try request(requests, origin: .user, at: now)
      return true
    } catch {
      return false
    }
  }

  private func requests(for decision: UserDecision) -> [ActionRequest] {
    switch decision {
    case .incoming(let id, .decline), .end(let id):
      [.init(call: id, kind: .end)]
    case .incoming(let id, .answer):
      active(but: id).map { call in
        let request = CheckedRequest(call: id, provider: call.provider, kind: .answer)
        let isHeld = canBeHeld(call, for: request)
        return .init(call: call.id, kind: isHeld ? .setHeld(true) : .end)
      } + [.init(call: id, kind: .answer)]
    case .incoming(let id, .holdAndAnswer):
      active(but: id).map { .init(call: $0.id, kind: .setHeld(true)) }
        + [.init(call: id, kind: .answer)]
    case .incoming(let id, .endAndAnswer):
      active(but: id).map { .init(call: $0.id, kind: .end) } + [.init(call: id, kind: .answer)]
    case .incoming(let id, .endHeldAndAnswer):
      calls.filter(\.isOnHold).map { .init(call: $0.id, kind: .end) }
        + active(but: id).map { .init(call: $0.id, kind: .setHeld(true)) }
        + [.init(call: id, kind: .answer)]
    case .setHeld(let id, let isOnHold):
      [.init(call: id, kind: .setHeld(isOnHold))]
    case .swap(let id):
      active(but: id).map { .init(call: $0.id, kind: .setHeld(true)) }
        + [.init(call: id, kind: .setHeld(false))]
    case .setMuted(let id, let isMuted):
      [.init(call: id, kind: .setMuted(isMuted))]
    case .merge(let id, let other):
      [.init(call: id, kind: .setGroup(other))]
    case .separate(let id):
      [.init(call: id, kind: .setGroup(nil))]
    case .press(let id, let digits):
      digits.map { .init(call: id, kind: .playDTMF(digits: String($0), .singleTone)) }
    }
  }

  private func active(but id: CallID) -> [Call] {
    calls.filter { $0.isActive && $0.id != id }
  }
}
