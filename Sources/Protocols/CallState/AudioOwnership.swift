/// Ownership of the audio session by the calls of a provider.
///
/// Opening devices takes time, so activation is an effect that the shell begins, and an event that
/// reports its result. After a deactivation the session counts as free at once: a later activation
/// waits in the shell until the devices are closed.
///
/// | State | Event | Next state | Effect |
/// |---|---|---|---|
/// | `inactive` | a call of P becomes audible | `activating(P)` | `activateAudio(P)` |
/// | `activating(P)` | the session is active | `active(P)` | `audioActivated(P)` |
/// | `activating(P)` | it is active, P has no audible call | `inactive` | `deactivateAudio(nil)` |
/// | `activating(P)` | it could not be activated | `inactive` | P's audible calls end or hold |
/// | `active(P)` | no call of P is audible | `inactive` | `deactivateAudio(P)` |
///
/// Changes of calls during an activation are considered once its result is known. Results that were
/// not requested are ignored.
package enum AudioOwnership: Equatable, Sendable {
  case inactive
  case activating(ProviderID)
  case active(ProviderID)
}

extension CallControl {
  /// Notes that the session was activated as requested (R88).
  ///
  /// If the provider's calls have ended or are held by then, it is notified of neither the
  /// activation nor the deactivation.
  package mutating func audioActivated() {
    guard case .activating(let provider) = audio else { return }
    if calls.contains(where: { $0.isAudible && $0.provider == provider }) {
      audio = .active(provider)
      effects.append(.audioActivated(provider))
    } else {
      audio = .inactive
      effects.append(.deactivateAudio(nil, release))
    }
    updateAudio()
  }

  // Devices stay open for a moment while another call may need them.
  private var release: DeviceRelease { calls.isEmpty ? .atOnce : .afterGraceTime }

  /// Notes that the session could not be activated, and ends or holds the audible calls.
  ///
  /// The devices cannot be opened, or another program has a call. Each audible call is asked to
  /// hold if it was on hold before and supports it, and ended if it fails to; all others are asked
  /// to end.
  ///
  /// Nothing was activated, so nothing will be deactivated. Calls that are no longer audible are
  /// left alone. Returns true if any call was audible.
  @discardableResult
  package mutating func audioActivationFailed(at now: Moment) -> Bool {
    guard case .activating(let provider) = audio else { return false }
    audio = .inactive
    let concerned = calls.filter { $0.isAudible && $0.provider == provider }
    for call in concerned {
      if call.holdNumber > 0, call.details.supportsHolding {
        update(call.id) { $0.setHeld(true, number: call.holdNumber) }
        askedToHold.soundless.insert(call.id)
        deliver(
          [.init(call: call.id, provider: call.provider, kind: .setHeld(true))],
          origin: .system,
          at: now
        )
        continue
      }
      update(call.id) { $0.audioFailed() }
      deliverEnd(call.id, at: now)
    }
    updateAudio()
    applyDue(at: now)
    return !concerned.isEmpty
  }

  // R88, R90, R92.
  mutating func updateAudio() {
    let owner = calls.first { $0.isAudible }?.provider
    if case .active(let former) = audio, owner != former {
      audio = .inactive
      effects.append(.deactivateAudio(former, release))
    }
    if case .inactive = audio, let owner {
      audio = .activating(owner)
      effects.append(.activateAudio(owner))
    }
  }
}
