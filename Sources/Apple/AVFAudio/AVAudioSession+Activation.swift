import ALSAAudio
import DesktopServices
import Foundation
import MediaCore
import RealTime
import Synchronization
import VoiceEngine

/// What the call layer does with the session, and how the engine comes and goes.
extension AVAudioSession {
  /// Takes the devices for a call.
  ///
  /// Only the call layer calls this, after a fulfilled action.
  package func activateForCall() throws {
    try state.withLock { state in
      defer { silenceOthers(state) }
      switch state.activation {
      case .byCall:
        break
      case .byApp(let running) where running.setup == state.setup:
        try claimCall(state)
        state.activation = .byCall(running)
      case .byApp(let running):
        // Made for something else: other filters, another rate.
        try claimCall(state)
        state.linger(running)
        try runForCall(&state)
      case .inactive:
        try claimCall(state)
        try runForCall(&state)
      }
    }
  }

  private func runForCall(_ state: inout SessionState) throws {
    do {
      state.activation = .byCall(try run(&state))
    } catch {
      arbiter.release()
      throw error
    }
  }

  /// How long devices stay open when another call may want them.
  private static let graceTime = DispatchTimeInterval.milliseconds(500)

  /// Deactivates the session after the last audible call, and releases the devices: at once, or
  /// after half a second if another call lives that may want them (a swap must not click).
  package func deactivateForCall(keepingDevices: Bool) {
    let leaving = state.withLock { state in
      state.activation.running.map { state.linger($0) }
    }
    guard let leaving else { return }
    leaving.running.engine.detachAll()
    guard keepingDevices else { return release(leaving.number) }
    notifications.asyncAfter(deadline: .now() + Self.graceTime) { [self] in
      release(leaving.number)
    }
  }

  private func release(_ number: Int) {
    // Under the lock: who activates next finds the devices closed, and does not lose what it has
    // claimed.
    state.withLock { state in
      guard let lingering = state.lingering, lingering.number == number else { return }
      state.lingering = nil
      lingering.running.stop()
      guard state.activation.running == nil else { return }
      arbiter.release()
      players.resume()
    }
  }

  // Who mixes with others leaves them alone; a call that failed to take the devices does as well.
  func silenceOthers(_ state: SessionState) {
    let mixes = state.effectiveOptions.contains(.mixWithOthers) || state.category == .ambient
    if state.activation.running != nil, !mixes { players.pause() }
  }

  /// Whether calls exist and none has audio; no app may activate the session then.
  package func setWithheldByCalls(_ isWithheld: Bool) {
    state.withLock { $0.isWithheldByCalls = isWithheld }
  }

  // The engine that lingers if it is as wished, else a new one.
  func run(_ state: inout SessionState) throws -> SessionState.Running {
    let setup = state.setup
    if let lingering = state.lingering?.running, lingering.setup == setup {
      state.lingering = nil
      lingering.engine.setInputMuted(state.isInputMuted ? .muted : .unmuted)
      return lingering
    }
    let reserved = ReservedCards(reservations)
    let cards = SoundCard.all()
    var plan = RoutePlan(
      setup.devices,
      cards: cards,
      known: state.knownCards,
      standIns: state.standIns,
      at: MonotonicClock.now()
    )
    if let lingering = state.lingering?.running {
      state.lingering = nil
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
    state.knownCards.merge(plan.identities)
    state.services = SoundServices()
    state.granted = RouteSupervisor.Granted(headset)
    let alarm = try WakeEvent()
    let engine = try engine(with: headset, setup: setup, &plan, alarm)
    if state.isInputMuted { engine.setInputMuted(.muted) }
    let keeper = RouteSupervisor(
      engine,
      plan: plan,
      wishes: setup.wishes,
      reserved: reserved,
      alarm: alarm,
      granted: state.granted
    ) { change in
      self.post(change)
    }
    learnPorts()
    return SessionState.Running(engine: engine, setup: setup, keeper: keeper)
  }

  // What opens but does not start, like a card that is just being plugged in, is waited for as if
  // it were lost in a call.
  private func engine(
    with headset: consuming Headset,
    setup: SessionState.Setup,
    _ plan: inout RoutePlan,
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
      where plan.isWorthWaiting(after: error) || plan.isNewcomer(error.device)
    {
      plan.noteLost(.both, at: MonotonicClock.now())
      return try make(Headset(capture: .null, playback: .null, wishes: setup.wishes))
    }
  }

  /// Sends silence instead of the microphone on every call, or the microphone again.
  func setInputMuted(_ isMuted: Bool) {
    let engine = state.withLock { state in
      state.isInputMuted = isMuted
      return state.activation.running?.engine
    }
    engine?.setInputMuted(isMuted ? .muted : .unmuted)
  }

  var isInputMuted: Bool { state.withLock { $0.isInputMuted } }
}
