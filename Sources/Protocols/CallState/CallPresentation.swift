/// Content of the system's call screen: every call, and which of them awaits the user's choice.
///
/// Equal values look the same, so only a change needs to be drawn.
package struct CallPresentation: Equatable, Sendable {
  /// A call on the screen.
  package struct Entry: Equatable, Sendable {
    /// Identity of the call.
    package let id: CallID
    /// Provider of the call.
    package let provider: ProviderID
    /// True if this side placed it.
    package let isOutgoing: Bool
    /// Phase of the call; an incoming one is `answering` until its answer is fulfilled (R45).
    package let phase: CallPhase
    /// True while the call is held.
    package let isOnHold: Bool
    /// True while silence is sent.
    package let isMuted: Bool
    /// Group of the call, whose members all talk together; nil if it is in none.
    package let group: GroupID?
    /// Time since which both sides can talk; nil if not yet.
    package let connected: CallDate?
    /// Remote party and capabilities of the call (R53).
    package let details: CallDetails
    /// Remark of the app on the call, such as that it is encrypted; nil for none.
    package let remark: String?
    /// Name of the app.
    package let app: String
    /// PNG file with the app's icon; nil for the system's.
    package let icon: [UInt8]?
  }

  /// Calls that are not over, oldest first.
  package let calls: [Entry]
  /// The incoming call to show the choices for: the first that rings (R43); nil if none does.
  package let incoming: CallID?
  /// Options of the user for that call (R42, R71, R72); empty if there is none.
  package let choices: [AnswerChoice]
  /// True while the ringtone is to sound.
  package let isRinging: Bool
  /// Name or path of the ringtone's file, set by the incoming call's app; nil for the system's.
  package let ringtoneSound: String?
}

extension CallControl {
  /// Sets the remark that is shown with a call; nil for none.
  package mutating func setRemark(_ remark: String?, of id: CallID) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    calls[index].remark = remark
  }

  /// Present content of the system's call screen.
  package var presentation: CallPresentation {
    let incoming = calls.first { $0.phase == .ringing && $0.ringDeadline != nil }
    return CallPresentation(
      calls: calls.map { call in
        CallPresentation.Entry(
          id: call.id,
          provider: call.provider,
          isOutgoing: call.isOutgoing,
          phase: call.phase,
          isOnHold: call.isOnHold,
          isMuted: call.isMuted,
          group: call.group,
          connected: call.connected,
          details: call.details,
          remark: call.remark,
          app: settings(of: call)?.name ?? "",
          icon: settings(of: call)?.icon
        )
      },
      incoming: incoming?.id,
      choices: incoming.map { choices(for: $0) } ?? [],
      isRinging: incoming.map {
        !$0.isRingtoneSilenced && !calls.contains(where: \.isActive) && !isBusyElsewhere
      } ?? false,
      ringtoneSound: incoming.flatMap { settings(of: $0)?.ringtoneSound }
    )
  }

  private func settings(of call: Call) -> ProviderSettings? {
    providers.first { $0.id == call.provider }?.settings
  }

  private func choices(for call: Call) -> [AnswerChoice] {
    let active = calls.filter { $0.isActive }
    let held = calls.filter { $0.isOnHold }
    guard !active.isEmpty else {
      return isBusyElsewhere ? [.holdAndAnswer, .decline] : [.answer, .decline]
    }
    let request = CheckedRequest(call: call.id, provider: call.provider, kind: .answer)
    let canHold = active.allSatisfy { canBeHeld($0, for: request) }
    var choices: [AnswerChoice] = canHold ? [.holdAndAnswer] : []
    if !canHold, !held.isEmpty, active.allSatisfy(\.details.supportsHolding) {
      choices.append(.endHeldAndAnswer)
    }
    return choices + [.endAndAnswer, .decline]
  }
}
