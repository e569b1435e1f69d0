import ALSAAudio
import AudioRouting
package import DesktopServices
import Foundation
import Synchronization

/// Arbitration among the desktop's programs: a call has priority over all other sound, and at most
/// one program has an active call.
extension AVAudioSession {
  /// Claims the desktop's active call, unless all devices are virtual.
  ///
  /// Waits for the bus, and for the program that has an active call to hold it. Throws
  /// `insufficientPriority` if that program neither holds nor ends it.
  func claimCall() throws {
    guard isArbitrated else { return }
    guard arbiter.claim() else {
      throw ErrorCode.insufficientPriority.error(reason: "another program has a call")
    }
    state.withLock { $0.isMakingWay = false }
  }

  /// Sets the handler of other programs' requests to make way for a call, or to resume one.
  ///
  /// It runs on a thread of the bus and must not wait for the bus.
  package func whenAsked(_ handle: @escaping @Sendable (CallArbiter.Request) -> Void) {
    arbiter.whenAsked { [weak self] request in
      if request == .makeWay { self?.makeWay() }
      handle(request)
    }
  }

  // The other program cannot have devices that are kept for a call of this one.
  private func makeWay() {
    state.withLock { $0.isMakingWay = true }
    operations.async { [self] in releaseLingering() }
  }

  /// Lets the program that made way for this one's call resume its own (R75), once the devices are
  /// closed.
  package func giveBack() {
    operations.async { [self] in
      guard isArbitrated else { return }
      // No call of this program is active: devices that are kept for one are let go.
      let isInCall = state.withLock { state in
        state.isGivingBack = true
        return state.activation.isOfCall
      }
      if !releaseLingering(), !isInCall { leaveCall() }
    }
  }

  var isArbitrated: Bool { state.withLock { isArbitrated($0) } }

  private func isArbitrated(_ state: SessionState) -> Bool {
    let devices = state.devicesAsRouted
    return arbitratesAll
      || [devices.capture, devices.playback].contains { if case .pcm = $0 { true } else { false } }
  }

  /// Checks that no other program has the desktop's active call.
  ///
  /// Waits for the bus. Throws `insufficientPriority` if one has; a category that does not record
  /// is never refused.
  func makeWayForCalls() throws {
    // Sound that is only played needs no right: the call is mixed with it, or quiet beside it.
    let plays = state.withLock { !Self.records($0.category) }
    guard isArbitrated, !plays else { return }
    guard !arbiter.isTaken else {
      throw ErrorCode.insufficientPriority.error(reason: "another program has a call")
    }
  }

  /// Interrupts the app whenever another program takes the active call, and notifies it of the end.
  func watchOthers() {
    let isNew = state.withLock { state in
      guard !state.isWatchingOthers, isArbitrated(state) else { return false }
      state.isWatchingOthers = true
      return true
    }
    guard isNew else { return }
    arbiter.watch { [weak self] isTaken in self?.noteCall(elsewhere: isTaken) }
  }

  /// Delay before an interruption ends, in milliseconds: another program may take the call over.
  private static let handover = 200

  private func noteCall(elsewhere isTaken: Bool) {
    guard !isTaken else {
      return operations.async { [self] in
        // The news may be late: the call may be over, and the app have the devices again.
        if arbiter.isTaken { interrupt() }
      }
    }
    operations.asyncAfter(deadline: .now() + .milliseconds(Self.handover)) { [self] in
      guard !arbiter.isTaken else { return }
      notifications.async { [self] in endInterruption() }
    }
  }

  /// Notifies the app that a call took its devices but could not use them.
  ///
  /// Then notifies it that it may activate the session again, unless another program has a call by
  /// now. Waits for the bus.
  func noteFailedTakeover() {
    state.withLock { $0.isInterrupted = true }
    notifications.async { [self] in postBegin() }
    guard !isArbitrated || !arbiter.isTaken else { return }
    notifications.async { [self] in endInterruption() }
  }

  private func interrupt() {
    let interrupted = state.withLock { state -> SessionState.Running? in
      guard case .byApp(let running) = state.activation else { return nil }
      state.activation = .inactive
      state.override = nil
      state.isInterrupted = true
      return running
    }
    guard let interrupted else { return }
    interrupted.stop()
    notifications.async { [self] in postBegin() }
  }

  private func endInterruption() {
    let wasInterrupted = state.withLock { state in
      defer { state.isInterrupted = false }
      return state.isInterrupted
    }
    guard wasInterrupted else { return }
    postInterruption(
      .ended,
      [AVAudioSessionInterruptionOptionKey: InterruptionOptions.shouldResume.rawValue]
    )
  }

  private func postBegin() {
    postInterruption(
      .began,
      [AVAudioSessionInterruptionReasonKey: InterruptionReason.default.rawValue]
    )
  }

  private func postInterruption(_ type: InterruptionType, _ more: [String: UInt]) {
    let info = more.merging([AVAudioSessionInterruptionTypeKey: type.rawValue]) { own, _ in own }
    NotificationCenter.default.post(
      name: Self.interruptionNotification,
      object: self,
      userInfo: info
    )
  }
}
