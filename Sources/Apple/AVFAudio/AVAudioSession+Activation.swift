import ALSAAudio
import AudioRouting
import DesktopServices
import Foundation
import MediaCore
import RealTime
import Synchronization
import VoiceEngine

/// Starts and stops the voice engine.
///
/// Opening devices, asking services and ending threads all happen on `operations`, in order and
/// outside the lock. An opened engine is committed under the lock, with the changes that the app
/// has made meanwhile.
extension AVAudioSession {
  // MARK: Calls

  /// Opens the devices for a call.
  ///
  /// Calls `completion` with nil once they are open, or with the error. Only the call layer calls
  /// this, after a fulfilled action. Does not block.
  package func activateForCall(completion: @escaping @Sendable ((any Error)?) -> Void) {
    state.withLock { $0.pendingCalls += 1 }
    operations.async { [self] in
      let wasOfApp = state.withLock { $0.activation.isOfApp }
      let failure: (any Error)?
      do {
        try takeForCall()
        failure = nil
      } catch {
        failure = error
      }
      let hasAppLost = state.withLock { state in
        state.pendingCalls -= 1
        return wasOfApp && state.activation.running == nil
      }
      if failure == nil { silenceOthers() }
      completion(failure)
      // After the completion, since the app may take the devices again at once.
      if hasAppLost { noteFailedTakeover() }
    }
  }

  private func takeForCall() throws {
    let (activation, setup) = state.withLock { state in
      state.isGivingBack = false
      return (state.activation, state.setup)
    }
    switch activation {
    case .byCall:
      break
    case .byApp(let running) where running.setup == setup:
      try claimCall()
      state.withLock { $0.commit(.byCall(running)) }
    case .byApp(let running):
      // Made for something else: other filters, another rate.
      try claimCall()
      state.withLock { _ = $0.linger(running) }
      try runForCall()
    case .inactive:
      try claimCall()
      try runForCall()
    }
  }

  private func runForCall() throws {
    let running: SessionState.Running
    do {
      running = try run()
    } catch {
      // The program that made way may have its call back.
      if isArbitrated { arbiter.giveBack() }
      throw error
    }
    state.withLock { $0.commit(.byCall(running)) }
  }

  /// Time for which devices stay open after a call, in case another one needs them.
  private static let graceTime = DispatchTimeInterval.milliseconds(500)

  /// Stops the voice after the last audible call, and releases the devices.
  ///
  /// With `keepingDevices` they stay open for half a second, in case another call needs them (a
  /// swap must not click), unless another program has asked this one to make way. Does not block:
  /// the devices are closed on `operations`, then `completion` is called.
  package func deactivateForCall(
    keepingDevices: Bool,
    completion: @escaping @Sendable () -> Void
  ) {
    let (leaving, isMakingWay) = state.withLock { state -> (SessionState.Lingering?, Bool) in
      guard case .byCall(let running) = state.activation else { return (nil, false) }
      return (state.linger(running), state.isMakingWay)
    }
    leaving?.running.engine.streams.detachAll()
    let release: @Sendable () -> Void = { [self] in
      if let leaving { self.release(leaving.number) }
      completion()
    }
    guard keepingDevices, !isMakingWay else { return operations.async(execute: release) }
    operations.asyncAfter(deadline: .now() + Self.graceTime, execute: release)
  }

  /// Releases devices kept for another call, and returns once they are closed.
  package func releaseDevices() async {
    operations.async { [self] in releaseLingering() }
    await finishOperations()
  }

  /// Releases devices kept for another call, on `operations`; returns false if there are none.
  @discardableResult
  func releaseLingering() -> Bool {
    guard let number = state.withLock({ $0.lingering?.number }) else { return false }
    release(number)
    return true
  }

  /// Returns once the activations and releases requested so far are done.
  package func finishOperations() async {
    await withCheckedContinuation { continuation in operations.async { continuation.resume() } }
  }

  // An engine that another activation has taken over stays.
  private func release(_ number: Int) {
    let (running, isUnused) = state.withLock { state in
      guard let lingering = state.lingering, lingering.number == number else {
        return (SessionState.Running?.none, false)
      }
      state.lingering = nil
      return (lingering.running, state.activation.running == nil)
    }
    running?.stop()
    guard isUnused else { return }
    leaveCall()
    players.resume()
  }

  /// Releases the desktop's active call; after `giveBack`, also asks the last program that made way
  /// to resume its call.
  func leaveCall() {
    let isGivingBack = state.withLock { state in
      defer { state.isGivingBack = false }
      return state.isGivingBack
    }
    if isGivingBack { arbiter.giveBack() } else { arbiter.release() }
  }

  // MARK: The app

  /// Opens the devices for the app, outside calls; on `operations`.
  func activateForApp() throws {
    let (isActive, isWithheld) = state.withLock {
      ($0.activation.running != nil, $0.isWithheldByCalls)
    }
    guard !isActive else { return }
    guard !isWithheld else {
      throw ErrorCode.insufficientPriority.error(reason: "calls are on hold")
    }
    try makeWayForCalls()
    let running: SessionState.Running
    do {
      running = try run()
    } catch {
      throw ErrorCode.error(for: error)
    }
    state.withLock { $0.commit(.byApp(running)) }
    // Devices that a call has left come without its rights.
    arbiter.release()
    silenceOthers()
  }

  /// Closes the app's devices, outside calls; on `operations`.
  func deactivateForApp(_ options: SetActiveOptions) {
    let (activation, isLingering) = state.withLock { ($0.activation, $0.lingering != nil) }
    switch activation {
    case .byCall:
      // The session has become a call's meanwhile.
      break
    case .byApp(let running):
      state.withLock { state in
        state.activation = .inactive
        state.override = nil
      }
      running.stop()
      leavePlayers(options)
    case .inactive:
      // Another program's call may have ended it first. What a call of ours has paused is its own
      // matter.
      if !isLingering { leavePlayers(options) }
    }
  }

  private func leavePlayers(_ options: SetActiveOptions) {
    if options.contains(.notifyOthersOnDeactivation) {
      players.resume()
    } else {
      players.forget()
    }
  }

  // A session that mixes leaves other programs alone, and so does one that has no devices.
  private func silenceOthers() {
    let (isRunning, ducks, mixes) = state.withLock { state in
      (
        state.activation.running != nil, state.options.contains(.duckOthers),
        state.effectiveOptions.contains(.mixWithOthers) || state.category == .ambient
      )
    }
    guard isRunning else { return }
    if ducks { players.duck() } else if !mixes { players.pause() }
  }

  /// Sets whether a call is on hold and none is active; the app cannot activate the session then.
  package func setWithheldByCalls(_ isWithheld: Bool) {
    state.withLock { $0.isWithheldByCalls = isWithheld }
  }

  // MARK: Engines

  /// Applies the selected filters to a running engine, on `operations`.
  func followFilters() {
    operations.async { [self] in
      // Without memory for others they stay as they are.
      guard let (engine, filters) = state.withLock({ $0.missingFilters }),
        (try? engine.setFilters(filters)) == true
      else { return }
      state.withLock { $0.noteFilters(filters, of: engine) }
    }
  }

  // Reuses the lingering engine if its setup fits, else starts a new one. If that fails, the claim
  // and the players are released here, since no lingering engine is left to do it.
  private func run() throws -> SessionState.Running {
    let (setup, lingering, known) = state.withLock { state in
      defer { state.lingering = nil }
      return (state.setup, state.lingering?.running, state.knownCards)
    }
    if let lingering, lingering.setup == setup { return lingering }
    do {
      return try start(setup, insteadOf: lingering, known: known)
    } catch {
      arbiter.release()
      if lingering != nil { players.resume() }
      throw error
    }
  }

  private func start(
    _ setup: SessionState.Setup,
    insteadOf lingering: SessionState.Running?,
    known: KnownCards
  ) throws -> SessionState.Running {
    let reserved = ReservedCards(reservations)
    let cards = SoundCard.all()
    var plan = RoutePlan(setup.devices, cards: cards, known: known, at: MonotonicClock.now())
    if let lingering {
      // The cards are kept, so that no other program takes them in between.
      reserved.hold(plan.devices(among: cards), among: cards)
      lingering.stop()
    }
    let headset = try RouteSupervisor.open(
      &plan,
      among: cards,
      wishes: setup.wishes,
      reserved: reserved
    )
    let granted = GrantedFormat(headset)
    state.withLock { state in
      state.knownCards.merge(plan.identities)
      state.services = SoundServices()
      state.granted = granted
    }
    let alarm = try WakeEvent()
    let engine = try engine(with: headset, setup: setup, &plan, among: cards, alarm)
    let supervisor = RouteSupervisor(
      engine,
      plan: plan,
      wishes: setup.wishes,
      reserved: reserved,
      alarm: alarm,
      granted: granted
    ) { change in
      self.post(change)
    }
    learnPorts()
    return SessionState.Running(engine: engine, setup: setup, supervisor: supervisor)
  }

  // What opens but does not start, like a card that is just being plugged in, is waited for as if
  // it were lost in a call.
  private func engine(
    with headset: consuming Headset,
    setup: SessionState.Setup,
    _ plan: inout RoutePlan,
    among cards: [SoundCard],
    _ alarm: WakeEvent
  ) throws -> CallEngine {
    func make(_ device: consuming Headset) throws -> CallEngine {
      try CallEngine(
        device: device,
        settings: EngineSettings(filters: setup.filters),
        alarm: alarm,
        onDenial: { [realTimeKit] thread in realTimeKit.promote(thread: thread) }
      )
    }
    do {
      return try make(headset)
    } catch let error as AudioDeviceError
      where plan.isWorthWaiting(after: error, among: cards) || plan.isNewcomer(error.device)
    {
      plan.noteLost(.both, at: MonotonicClock.now())
      return try make(Headset(capture: .null, playback: .null, wishes: setup.wishes))
    }
  }

  /// Mutes the microphone on every call, or unmutes it; while muted, silence is sent in its place.
  func setInputMuted(_ isMuted: Bool) {
    let engine = state.withLock { state in
      state.isInputMuted = isMuted
      return state.activation.running?.engine
    }
    engine?.setInputMuted(isMuted ? .muted : .unmuted)
  }

  var isInputMuted: Bool { state.withLock { $0.isInputMuted } }
}
