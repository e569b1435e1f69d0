package import ALSAAudio
import Foundation
import MediaCore
package import RealTime
package import SRTP
import Synchronization
package import UDPTransport
package import VoiceEngine

/// Keeps a running voice engine supplied with devices, whatever is unplugged, taken or restarted.
///
/// A side that is lost gets silence at once, so that the call goes on, then the best device there
/// is. The wanted device is searched for until it is back, ten times a second at first.
///
/// **Life cycle:** works from its initialiser until `stop`. **Thread safety:** any thread; devices
/// are opened on a queue of its own.
// SAFETY: what changes is touched on `queue` only.
package final class RouteSupervisor: @unchecked Sendable {
  private let queue = DispatchQueue(label: "avfaudio.route", qos: .userInteractive)
  private let engine: VoiceEngine<Headset, SecureTransport<MediaSocket>>
  private let wishes: DeviceWishes
  private let reserved: ReservedCards
  private let onChange: @Sendable (RouteChange) -> Void
  private let alarm: WakeEvent
  private let alarmSource: any DispatchSourceRead
  private let plugSource: (any DispatchSourceRead)?
  private var plan: RoutePlan
  private var granted: GrantedFormat
  private var pace: RetryBackoff
  private var timer: (any DispatchSourceTimer)?
  /// Watch for changes of PipeWire's cycle; nil while none runs.
  private var cycleWatch: PipeWireCycle.Watch?
  /// Looks, one a second, left before a new watch is started; `watchPause` is their number after
  /// the next watch ends, doubled each time.
  private var looksBeforeWatch = 0
  private var watchPause = 1
  private static let longestWatchPause = 64
  private var capturePace = ServerPace()
  private var playbackPace = ServerPace()
  private var pipeWireTimer: (any DispatchSourceTimer)?
  private let isStopped = Atomic<Bool>(false)
  private let inUse: Mutex<RoutePlan.Route>

  /// Keeps `engine`, which signals `alarm` when it loses a side, on the devices that `plan` wants.
  package init(
    _ engine: VoiceEngine<Headset, SecureTransport<MediaSocket>>,
    plan: RoutePlan,
    wishes: DeviceWishes,
    reserved: ReservedCards,
    alarm: WakeEvent,
    granted: GrantedFormat,
    onChange: @escaping @Sendable (RouteChange) -> Void
  ) {
    self.engine = engine
    self.plan = plan
    self.granted = granted
    self.wishes = wishes
    self.reserved = reserved
    self.alarm = alarm
    self.onChange = onChange
    inUse = Mutex(plan.route)
    alarmSource = DispatchSource.makeReadSource(
      fileDescriptor: alarm.descriptor,
      queue: queue
    )
    // Without it, what is plugged in is found when something is lost.
    let plugs = CardWatch()
    plugSource =
      if let plugs {
        DispatchSource.makeReadSource(fileDescriptor: plugs.descriptor, queue: queue)
      } else {
        nil
      }
    pace = RetryBackoff(isTold: plugs != nil)
    alarmSource.setEventHandler { [weak self] in self?.hearAlarm() }
    // The source may outlive the supervisor; the descriptor must outlive the source.
    alarmSource.setCancelHandler { _ = alarm }
    plugSource?.setEventHandler { [weak self] in
      plugs?.acknowledge()
      self?.hearPlug()
    }
    plugSource?.setCancelHandler { _ = plugs }
    alarmSource.resume()
    plugSource?.resume()
    queue.async { [weak self] in self?.begin() }
  }

  deinit {
    alarmSource.cancel()
    plugSource?.cancel()
    pipeWireTimer?.cancel()
  }

  /// The devices in use.
  package var route: RoutePlan.Route { inUse.withLock { $0 } }

  /// Opens the wanted devices of `plan`, and reserves their cards.
  ///
  /// A device that is busy, or was once there, is replaced as if it were lost in a call, and waited
  /// for. Other errors are thrown, such as that of a wrong name.
  package static func open(
    _ plan: inout RoutePlan,
    among cards: [SoundCard],
    wishes: DeviceWishes,
    reserved: ReservedCards
  ) throws(AudioDeviceError) -> Headset {
    // Under its name there may be another card by now.
    if !plan.isElsewhere(among: cards) {
      let (capture, playback) = (plan.capture.wanted, plan.playback.wanted)
      do {
        let headset = try reserved.reserving(capture, among: cards) {
          () throws(AudioDeviceError) in
          try reserved.reserving(playback, among: cards) { () throws(AudioDeviceError) in
            try Headset(capture: capture, playback: playback, wishes: wishes)
          }
        }
        plan.noteOpened()
        return headset
      } catch {
        guard plan.isWorthWaiting(after: error, among: cards) || plan.isNewcomer(error.device)
        else {
          throw error
        }
      }
    }
    plan.noteLost(.both, at: MonotonicClock.now())
    var headset = try Headset(capture: .null, playback: .null, wishes: wishes)
    var errors: [AudioDeviceError] = []
    plan.settle(among: cards, at: MonotonicClock.now()) { name, side in
      do throws(AudioDeviceError) {
        var opened = try open(name, on: side, wishes: wishes, reserved: reserved, among: cards)
        headset.exchange(side, with: &opened)
      } catch {
        errors.append(error)
        throw error
      }
    }
    // What is wrong for good is not waited for because the other side is.
    let hopeless = errors.first { error in
      let isSilent = plan.unsettled.contains { side in
        plan[side].current == nil
          && plan.wanted(of: side, among: cards)?.description == error.device
      }
      return isSilent && !plan.isWorthWaiting(after: error, among: cards)
    }
    if let hopeless { throw hopeless }
    reserved.keep(plan.devices(among: cards), among: cards)
    return headset
  }

  // Only one side of what is opened is real.
  private static func open(
    _ device: DeviceName,
    on side: StreamDirections,
    wishes: DeviceWishes,
    reserved: ReservedCards,
    among cards: [SoundCard]
  ) throws(AudioDeviceError) -> Headset {
    let isCapture = side == .capture
    return try reserved.reserving(device, among: cards) { () throws(AudioDeviceError) in
      try Headset(
        capture: isCapture ? device : .null,
        playback: isCapture ? .null : device,
        wishes: wishes
      )
    }
  }

  /// Moves the voice to other devices, as soon as they can be opened.
  ///
  /// Does not block. `known` holds the cards that these device names stood for when last used.
  package func wish(for devices: DeviceSelection, known: KnownCards) {
    queue.async { [weak self] in self?.change(to: devices, known: known) }
  }

  private func change(
    to devices: DeviceSelection,
    known: KnownCards
  ) {
    guard isAtWork else { return }
    let before = plan.route
    let now = MonotonicClock.now()
    let blocked = plan.wish(for: devices, among: SoundCard.all(), known: known, at: now)
    if !blocked.isEmpty { silence(blocked) }
    restore()
    announce(from: before, .newWish)
    pace.hurry()
    schedule()
  }

  /// Stops supervising, and leaves the engine as it is.
  ///
  /// Does not block: a sound server that hangs may keep the queue for long. A device opened after
  /// that finds the engine stopped, and is closed.
  package func stop() {
    isStopped.store(true, ordering: .releasing)
    queue.async { [self] in
      timer?.cancel()
      alarmSource.cancel()
      plugSource?.cancel()
      pipeWireTimer?.cancel()
      cycleWatch = nil
    }
  }

  /// Gives the cards back to other programs, once the stopped engine has closed them.
  package func giveBackCards() {
    // A device that is being opened at this moment is closed before.
    queue.async { [reserved] in reserved.giveBackAll() }
  }

  private var isAtWork: Bool { !isStopped.load(ordering: .acquiring) }

  private func begin() {
    guard isAtWork else { return }
    makeAudible(from: RoutePlan.Route(capture: nil, playback: nil))
    let isAsWished = plan.unsettled.isEmpty
    announce(
      from: plan.expectedRoute,
      isAsWished ? .newDevice : .deviceLost
    )
    // What was plugged in while the devices were being opened.
    hearPlug()
    schedule()
    watchPipeWire()
  }

  // MARK: PipeWire's cycle

  // Once a second, from the first device of PipeWire's on.
  private func watchPipeWire() {
    guard pipeWireTimer == nil, !granted.sidesOfPipeWire.isEmpty, isAtWork else { return }
    cycleWatch = PipeWireCycle.Watch()
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { [weak self] in self?.lookAtPipeWire() }
    timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1))
    timer.resume()
    pipeWireTimer = timer
  }

  private func lookAtPipeWire() {
    guard isAtWork, !granted.sidesOfPipeWire.isEmpty else { return }
    if let cycleWatch {
      hear(cycleWatch.takeNews())
    } else if looksBeforeWatch > 0 {
      looksBeforeWatch -= 1
    } else {
      cycleWatch = PipeWireCycle.Watch()
    }
    lookAtPace()
  }

  private func lookAtPace() {
    guard let moved = engine.movedFrames() else { return }
    let (sides, now) = (granted.sidesOfPipeWire, MonotonicClock.now())
    let period = Int64(granted.bufferDuration * 1e9)
    let captured = capturePace.note(frames: moved.captured, at: now, period: period)
    let played = playbackPace.note(frames: moved.played, at: now, period: period)
    let shown = [
      sides.contains(.capture) ? captured : nil, sides.contains(.playback) ? played : nil,
    ]
    guard let cycle = shown.compactMap({ $0 }).max() else { return }
    PipeWireCycle.assume(cycle)
    openAgain()
  }

  private func hear(_ news: PipeWireCycle.Watch.News) {
    switch news {
    case .none: break
    case .cycle(let before, let now):
      watchPause = 1
      let least = wishes.periodNanoseconds
      if max(before, least) != max(now, least) { openAgain() }
    case .end:
      cycleWatch = nil
      looksBeforeWatch = watchPause
      watchPause = min(2 * watchPause, Self.longestWatchPause)
    }
  }

  // With the period that fits the cycle. Closed first: one device may be both sides.
  private func openAgain() {
    let sides = granted.sidesOfPipeWire
    // The gap between the devices is no slow pace.
    (capturePace, playbackPace) = (ServerPace(), ServerPace())
    silence(sides)
    let before = plan.route
    let cards = SoundCard.all()
    for side in [StreamDirections.capture, .playback] where sides.contains(side) {
      guard let name = plan[side].current else { continue }
      do {
        try put(name, on: side, among: cards)
      } catch {
        plan.noteLost(side, at: MonotonicClock.now())
      }
    }
    announce(from: before, .deviceLost)
    pace.hurry()
    schedule()
  }

  private func hearAlarm() {
    alarm.acknowledge()
    guard isAtWork else { return }
    let lost = engine.goneSides
    guard !lost.isEmpty else { return }
    let before = plan.route
    silence(lost)
    plan.noteLost(lost, at: MonotonicClock.now())
    restore()
    if plan.welcome(SoundCard.all()) { restore() }
    announce(from: before, .deviceLost)
    pace.hurry()
    schedule()
  }

  // The permissions of a new card are set a moment later: one that cannot be opened yet is tried
  // again.
  private func hearPlug() {
    guard isAtWork else { return }
    let isNews = plan.welcome(SoundCard.all())
    guard isNews || !plan.unsettled.isEmpty else { return }
    pace.hurry()
    retry()
  }

  private func lookAgain() {
    pace.noteLook()
    retry()
  }

  private func retry() {
    guard isAtWork else { return }
    let before = plan.route
    restore()
    announce(from: before, .newDevice)
    schedule()
  }

  // Old devices are closed before others are opened: a card has room for one.
  private func silence(_ sides: StreamDirections) {
    granted.sidesOfPipeWire.subtract(sides)
    // Without it the call goes on as well: the voice thread leaves out what is gone.
    if let nothing = try? Headset(capture: .null, playback: .null, wishes: wishes) {
      try? engine.replace(sides, with: nothing)
    }
  }

  private func put(
    _ name: DeviceName,
    on side: StreamDirections,
    among cards: [SoundCard]
  ) throws {
    let opened = try Self.open(name, on: side, wishes: wishes, reserved: reserved, among: cards)
    var granted = granted
    granted.note(side, of: opened)
    try engine.replace(side, with: opened)
    self.granted = granted
    watchPipeWire()
  }

  private func restore() {
    let cards = SoundCard.all()
    plan.settle(among: cards, at: MonotonicClock.now()) { name, side in
      guard isAtWork else { throw CancellationError() }
      try put(name, on: side, among: cards)
    }
    reserved.keep(plan.devices(among: cards), among: cards)
  }

  private func announce(
    from before: RoutePlan.Route,
    _ reason: RouteChange.Reason
  ) {
    // The session may have ended while a device was being opened.
    guard isAtWork, plan.route != before else { return }
    makeAudible(from: before)
    inUse.withLock { $0 = plan.route }
    onChange(
      RouteChange(
        before: before,
        after: plan.route,
        identities: plan.identities,
        reason: reason,
        granted: granted
      )
    )
  }

  // A card that the user wishes for may never have been used before. What stands in for it is left
  // as it is: its microphone may be muted on purpose.
  private func makeAudible(from before: RoutePlan.Route) {
    let cards = SoundCard.all()
    func makeAudible(_ side: StreamDirections, _ before: DeviceName?) {
      let state = plan[side]
      guard state.isSettled, let now = state.current, now != before,
        let card = CardName(now)?.card(among: cards)
      else { return }
      CardMixer(card: card.number)?.makeAudible(side)
    }
    makeAudible(.capture, before.capture)
    makeAudible(.playback, before.playback)
  }

  // Looks for what is missing as long as something is.
  private func schedule() {
    guard !plan.unsettled.isEmpty, isAtWork else {
      timer?.cancel()
      return timer = nil
    }
    let timer = timer ?? makeTimer()
    timer.schedule(deadline: .now() + .milliseconds(pace.milliseconds))
    self.timer = timer
  }

  private func makeTimer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { [weak self] in self?.lookAgain() }
    timer.resume()
    return timer
  }
}
