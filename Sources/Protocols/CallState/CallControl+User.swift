/// What the user can choose for an incoming call.
package enum AnswerChoice: Equatable, Sendable {
  /// Take it; the active call is held, or ended where it cannot be.
  case answer
  /// Hold the call that is active and take it.
  case holdAndAnswer
  /// End the call that is active and take it.
  case endAndAnswer
  /// End the call that is held, hold the one that is active, and take it.
  case endHeldAndAnswer
  /// Decline it.
  case decline
}

/// What the user decides on the system's call screen.
package enum UserDecision: Equatable, Sendable {
  /// What to do with an incoming call.
  case incoming(CallID, AnswerChoice)
  /// End a call.
  case end(CallID)
  /// Hold or resume a call.
  case setHeld(CallID, Bool)
  /// Hold the call that is active and resume this one (R74).
  case swap(to: CallID)
  /// Mute or unmute a call.
  case setMuted(CallID, Bool)
  /// Talk to both together.
  case merge(CallID, CallID)
  /// Talk to one of a group alone.
  case separate(CallID)
  /// Press keys.
  case press(CallID, digits: String)
}

extension CallControl {
  /// Carries out what the user decided, through actions to the apps that the calls belong to.
  ///
  /// Returns false, and does nothing, if the decision does not fit the calls any more.
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
