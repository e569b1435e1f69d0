/// What the system's call screen shows: every call, and which of them asks for the user's choice.
///
/// A value; two that are equal look the same.
package struct CallPresentation: Equatable, Sendable {
  /// A call on the screen.
  package struct Entry: Equatable, Sendable {
    /// The call.
    package let id: CallID
    /// Whose call it is.
    package let provider: ProviderID
    /// True if this side placed it.
    package let isOutgoing: Bool
    /// Where it stands; an incoming one says *answering* until the app has answered (R45).
    package let phase: CallPhase
    /// True while it is held.
    package let isOnHold: Bool
    /// True while silence is sent.
    package let isMuted: Bool
    /// Those with the same group are talked to together.
    package let group: GroupID?
    /// Since when both sides can talk.
    package let connected: CallDate?
    /// Who it is, and what can be done with it (R53).
    package let details: CallDetails
    /// What the app says of the call beside who it is, such as that it is encrypted.
    package let remark: String?
    /// The app's name.
    package let app: String
    /// The app's icon, the bytes of a PNG file; nil for the system's.
    package let icon: [UInt8]?
  }

  /// Every call that lives, oldest first.
  package let calls: [Entry]
  /// The incoming call that has the screen: the first that rings (R43).
  package let incoming: CallID?
  /// What the user can choose for it (R42, R71, R72).
  package let choices: [AnswerChoice]
  /// True while the ringtone sounds.
  package let isRinging: Bool
  /// The file of the ringtone that the incoming call's app wishes, nil for the system's.
  package let ringtoneSound: String?
}

extension CallControl {
  /// Shows a remark with a call from now on.
  package mutating func setRemark(_ remark: String?, of id: CallID) {
    guard let index = calls.firstIndex(where: { $0.id == id }) else { return }
    calls[index].remark = remark
  }

  /// What the system's call screen shows now.
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
      isRinging: incoming.map { !$0.isRingtoneSilenced && !calls.contains(where: \.isActive) }
        ?? false,
      ringtoneSound: incoming.flatMap { settings(of: $0)?.ringtoneSound }
    )
  }

  private func settings(of call: Call) -> ProviderSettings? {
    providers.first { $0.id == call.provider }?.settings
  }

  private func choices(for call: Call) -> [AnswerChoice] {
    let active = calls.filter { $0.isActive }
    let held = calls.filter { $0.isOnHold }
    guard !active.isEmpty else { return [.answer, .decline] }
    let request = CheckedRequest(call: call.id, provider: call.provider, kind: .answer)
    let canHold = active.allSatisfy { canBeHeld($0, for: request) }
    var choices: [AnswerChoice] = canHold ? [.holdAndAnswer] : []
    if !canHold, !held.isEmpty, active.allSatisfy(\.details.supportsHolding) {
      choices.append(.endHeldAndAnswer)
    }
    return choices + [.endAndAnswer, .decline]
  }
}
