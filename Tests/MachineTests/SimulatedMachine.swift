import CallKit
import CallSecurity
import Foundation
import MediaCore
import VoiceEngine

@testable import CallState
@testable import SIPSignalling
@testable import SidetonePhone

/// Inputs of a phone, which are processed one after the other.
enum PhoneInput {
  case perform(CallAction)
  case didActivate
  case didDeactivate
  case failedToActivate
  case signalling(SIPEvent)
  case incoming(SIPCallID, callID: Int, from: Int)
}

/// A machine with a phone, in virtual time.
///
/// The call rules and the phone's decisions are the real ones; effects are carried out as by
/// `CallSystem` and `Phone`.
final class SimulatedMachine {
  /// The sound devices of a process.
  private enum Devices: Equatable {
    case closed
    case opening(Int)
    case open
    /// Released, and closed soon.
    case closing(Int)
  }

  let index: Int
  unowned let world: SimulatedWorld
  private(set) var process = 0
  private(set) var isRunning = false
  /// True while a headset is plugged in.
  var hasHeadset = true
  private(set) var control = CallControl()
  private(set) var phone = PhoneControl(maximumCalls: 2)
  private(set) lazy var signalling = SimulatedSignalling(self)
  private(set) var legs: [UUID: SimulatedLeg] = [:]
  /// Dialog number of each call, for comparison with the far side.
  private(set) var dialogs: [UUID: Int] = [:]
  /// Calls that the user sees as held by the far side.
  private(set) var farHolds: Set<UUID> = []
  private(set) var begun: [UUID: Int64] = [:]
  private var provider = ProviderID(rawValue: 0)
  private var inbox: ArraySlice<PhoneInput> = []
  private var lastInput: Int64 = 0
  private var devices = Devices.closed
  private(set) var engine: Int?
  private var nextNumber = 1
  private var deadline: Int64?
  private(set) var endedCalls = 0
  private(set) var records = 0
  private(set) var activations = 0
  private(set) var connections = 0

  init(_ index: Int, in world: SimulatedWorld) {
    self.index = index
    self.world = world
  }

  var instant: MonotonicInstant { MonotonicInstant(nanoseconds: world.now) }

  private var moment: Moment {
    Moment(instant: instant, date: CallDate(secondsSince1970: Double(world.now) / 1e9))
  }

  private func makeNumber() -> Int {
    defer { nextNumber += 1 }
    return nextNumber
  }

  func schedule(_ event: ProcessEvent, at time: Int64) {
    world.agenda.add(.inProcess(machine: index, process: process, event), at: time)
  }

  // MARK: Process

  func start() {
    guard !isRunning else { return }
    process += 1
    isRunning = true
    control = CallControl()
    phone = PhoneControl(maximumCalls: 2)
    signalling = SimulatedSignalling(self)
    (legs, dialogs, farHolds, begun) = ([:], [:], [], [:])
    (inbox, lastInput, devices, engine, deadline) = ([], 0, .closed, nil, nil)
    var settings = ProviderSettings(maximumCallGroups: 3)
    settings.ringDuration = .seconds(60)
    provider = control.addProvider(settings)
    control.setHasDelegate(provider, true)
    schedule(.watch, at: world.now + 1_000_000_000)
  }

  /// Kills the process at once, without any cleanup.
  func kill() {
    isRunning = false
    process += 1
  }

  func enqueue(_ input: PhoneInput) {
    inbox.append(input)
    // A phone may be busy for a while, and takes one after the other.
    let pause = world.random(0..<50) == 0 ? 2_000_000_000 : Int64(world.random(1..<5)) * 1_000_000
    lastInput = max(lastInput + 1, world.now + pause)
    schedule(.inbox, at: lastInput)
  }

  func handle(_ event: ProcessEvent) {
    switch event {
    case .inbox:
      if let input = inbox.popFirst() { handle(input) }
    case .devicesOpened(let number):
      devicesOpened(number)
    case .devicesReleased(let number):
      if devices == .closing(number) { devices = .closed }
    case .deadline:
      deadline = nil
      control.advance(to: moment)
    case .watch:
      watch()
    case .period(let engine):
      if engine == self.engine { period() }
    case .signalling(let timer):
      signalling.fire(timer)
    case .unreachable(let dialog):
      for (uuid, number) in dialogs where number == dialog {
        handle(.unreachable("connection refused"), of: uuid)
      }
    }
    drain()
  }

  // MARK: The call system

  func drain() {
    while let effect = control.nextEffect() { perform(effect) }
    guard let next = control.nextDeadline?.nanoseconds, next != deadline else { return }
    deadline = next
    schedule(.deadline, at: max(world.now, next))
  }

  private func perform(_ effect: CallControl.Effect) {
    switch effect {
    case .deliver(let actions):
      for action in actions { enqueue(.perform(action)) }
    case .activateAudio:
      activations += 1
      let number = makeNumber()
      let isOpen = devices != .closed
      devices = .opening(number)
      let pause = isOpen ? 1 : world.random(2..<400) + (world.random(0..<20) == 0 ? 5_000 : 0)
      schedule(.devicesOpened(number), at: world.now + Int64(pause) * 1_000_000)
    case .deactivateAudio(let provider, let release):
      stopEngine()
      let number = makeNumber()
      devices = .closing(number)
      let pause: Int64 = release == .atOnce ? 20_000_000 : 500_000_000
      schedule(.devicesReleased(number), at: world.now + pause)
      if provider != nil { enqueue(.didDeactivate) }
    case .giveBack:
      // Each machine has one program.
      break
    case .audioActivated:
      enqueue(.didActivate)
    case .recorded:
      records += 1
    case .callChanged(let snapshot):
      if snapshot.hasEnded { endedCalls += 1 }
    case .timedOut, .finished, .didReset:
      break
    }
  }

  private func devicesOpened(_ number: Int) {
    guard devices == .opening(number) else { return }
    if hasHeadset {
      devices = .open
      let engine = makeNumber()
      self.engine = engine
      schedule(.period(engine: engine), at: world.now + Self.periodNanoseconds)
      control.audioActivated()
    } else {
      devices = .closed
      if control.audioActivationFailed(at: moment) { enqueue(.failedToActivate) }
    }
  }

  private func stopEngine() {
    for uuid in sortedCalls { world.send(legs[uuid]?.engineStopped(at: instant)) }
    engine = nil
  }

  // MARK: Voice

  private static let periodNanoseconds = SampleRate.voice.nanoseconds(of: SimulatedLeg.period)

  private func period() {
    for uuid in sortedCalls {
      for datagram in legs[uuid]?.run(at: instant, &world.microphone) ?? [] {
        world.send(datagram)
      }
    }
    if let engine { schedule(.period(engine: engine), at: world.now + Self.periodNanoseconds) }
  }

  private var sortedCalls: [UUID] { phone.calls.map(\.uuid) }

  func leg(at port: UInt16) -> SimulatedLeg? { legs.values.first { $0.port == port } }

  private func watch() {
    signalling.tidy()
    schedule(.watch, at: world.now + 1_000_000_000)
    for uuid in sortedCalls {
      handle(.timePassed, of: uuid)
      guard engine != nil, let figures = legs[uuid]?.statistics(at: instant) else { continue }
      handle(.mediaReported(figures), of: uuid)
    }
  }

  private func attachLegs() {
    for uuid in sortedCalls { world.send(legs[uuid]?.attach(to: engine, at: instant)) }
  }

  // MARK: The phone

  private func handle(_ input: PhoneInput) {
    switch input {
    case .perform(let action):
      perform(action)
    case .didActivate, .didDeactivate:
      attachLegs()
    case .failedToActivate:
      perform(phone.handle(.activationFailed("no headset"), at: instant))
    case .incoming(let id, let callID, let caller):
      incoming(id, callID, from: caller)
    case .signalling(let event):
      handle(event)
    }
  }

  private func perform(_ action: CallAction) {
    guard control.pendingActions.contains(action) else { return }
    let uuid = Self.uuid(action.call)
    switch action.kind {
    case .start(let request):
      handle(.perform(.start(uri: request.handle.value)), of: uuid, for: action)
    case .answer: handle(.perform(.answer), of: uuid, for: action)
    case .end: handle(.perform(.end), of: uuid, for: action)
    case .setHeld(let isHeld): handle(.perform(.setHeld(isHeld)), of: uuid, for: action)
    case .setMuted(let isMuted): handle(.perform(.setMuted(isMuted)), of: uuid, for: action)
    case .playDTMF: handle(.perform(.playDTMF([5])), of: uuid, for: action)
    case .setGroup(let other):
      perform(phone.setGroup(uuid, with: other.map(Self.uuid)), for: action)
    case .unsupported: break
    }
  }

  private func handle(_ event: SIPEvent) {
    let (id, what): (SIPCallID, PhoneCallEvent)
    switch event {
    case .ringing(let call): (id, what) = (call, .progressed)
    case .media(let call, let media): (id, what) = (call, .agreed(media))
    case .established(let call, _): (id, what) = (call, .established)
    case .ended(let call, let reason): (id, what) = (call, .signallingEnded(reason))
    default: return
    }
    guard let call = phone.call(of: id) else { return }
    handle(what, of: call.uuid)
  }

  private func handle(_ event: PhoneCallEvent, of uuid: UUID, for action: CallAction? = nil) {
    perform(phone.handle(event, of: uuid, at: instant), for: action)
  }

  private func perform(_ orders: [PhoneControl.Order], for action: CallAction? = nil) {
    for order in orders { perform(order.effect, of: order.call, for: action) }
  }

  private func perform(_ effect: PhoneCallEffect, of uuid: UUID, for action: CallAction?) {
    let call = Self.callID(uuid)
    switch effect {
    case .invite(let uri, _): invite(uuid, uri, for: action)
    case .accept(let id):
      let isAccepted = legs[uuid].map { signalling.answer(id, offer($0)) } ?? false
      handle(
        isAccepted ? .accepted : .acceptFailed(.lost("the caller has gone")),
        of: uuid,
        for: action
      )
    case .fulfill: if let action { control.answer(action.id, isFulfilled: true, at: moment) }
    case .fail: if let action { control.answer(action.id, isFulfilled: false, at: moment) }
    case .hangUp(let id, let refusal): signalling.hangUp(id, as: refusal)
    case .sendHold(let id, let isHeld): signalling.setHeld(id, isHeld)
    case .hold: request(uuid, .setHeld(true))
    case .ask(let id): signalling.ask(id)
    case .agree(let media):
      if media != nil { world.send(legs[uuid]?.attach(to: engine, at: instant)) }
      world.send(legs[uuid]?.agree(media, at: instant))
    case .mute(let state): legs[uuid]?.setMuted(state == .muted)
    case .reportConnecting: control.reportConnecting(call, of: provider, at: moment.date)
    case .reportConnected: control.reportConnected(call, of: provider, at: moment.date)
    case .reportEnded(let reason):
      let reason = EndedReason(rawValue: reason.rawValue) ?? .failed
      control.reportEnded(call, of: provider, reason: reason, at: moment)
    case .tell(let event): note(event)
    case .release:
      world.send(legs[uuid]?.detach(at: instant))
      legs[uuid] = nil
      dialogs[uuid] = nil
      begun[uuid] = nil
      farHolds.remove(uuid)
    case .sendDigits, .setConference, .remember, .route: break
    }
  }

  private func note(_ event: PhoneEvent) {
    switch event {
    case .connected: connections += 1
    case .heldByFarSide(let uuid): farHolds.insert(uuid)
    case .resumedByFarSide(let uuid): farHolds.remove(uuid)
    default: break
    }
  }

  private func offer(_ leg: SimulatedLeg) -> MediaOffer {
    MediaOffer(
      host: SimulatedWorld.host(of: index),
      port: leg.port,
      packetMilliseconds: 60,
      codecs: [.pcmu]
    )
  }

  private func invite(_ uuid: UUID, _ uri: String, for action: CallAction?) {
    guard let leg = legs[uuid], let peer = Int(uri),
      let dialog = dialogs[uuid],
      let id = signalling.invite(peer, callID: dialog, offer(leg))
    else { return handle(.inviteFailed(.unreachable("no way")), of: uuid, for: action) }
    handle(.invited(id, by: .udp), of: uuid, for: action)
    if !world.machines[peer].isRunning, world.random(0..<2) == 0 {
      schedule(.unreachable(call: dialog), at: world.now + 40_000_000)
    }
  }

  private static let rule = SecurityRule(.off, address: "far", record: nil)

  private func makeLeg() -> SimulatedLeg {
    SimulatedLeg(machine: index, port: world.makePort(), seed: UInt64(world.makeTag()))
  }

  private func incoming(_ id: SIPCallID, _ callID: Int, from caller: Int) {
    guard phone.hasRoom(forKnown: false) else { return signalling.reject(id, 486) }
    let uuid = world.makeUUID()
    let deadline = instant.advanced(by: .seconds(60))
    phone.add(
      PhoneCall(incoming: uuid, from: "\(caller)", sip: id, ringsUntil: deadline, Self.rule)
    )
    legs[uuid] = makeLeg()
    dialogs[uuid] = callID
    begun[uuid] = world.now
    do {
      let call = Self.callID(uuid)
      try control.reportIncoming(call, CallUpdate(), of: provider, at: moment)
    } catch {
      phone.remove(uuid)
      (legs[uuid], dialogs[uuid], begun[uuid]) = (nil, nil, nil)
      signalling.reject(id, 480)
    }
  }

  // MARK: The user

  /// Calls another machine, as `Phone.call` does.
  func call(_ peer: Int) {
    guard phone.hasRoom(forKnown: true) else { return }
    let uuid = world.makeUUID()
    legs[uuid] = makeLeg()
    dialogs[uuid] = world.makeTag()
    begun[uuid] = world.now
    phone.add(PhoneCall(outgoing: uuid, to: "\(peer)", Self.rule))
    let handle = CallHandle(kind: .generic, value: "\(peer)")
    let start = ActionKind.start(StartRequest(handle: handle))
    guard request(uuid, start) else {
      phone.remove(uuid)
      (legs[uuid], dialogs[uuid], begun[uuid]) = (nil, nil, nil)
      return
    }
  }

  @discardableResult
  func request(_ uuid: UUID, _ kind: ActionKind) -> Bool {
    let wish = ActionRequest(call: Self.callID(uuid), kind: kind)
    return (try? control.request([wish], at: moment)) != nil
  }

  func decide(_ decision: UserDecision) { control.decide(decision, at: moment) }

  func reset() {
    control.reset(at: moment)
    // `providerDidReset` reaches the phone before anything that follows it.
    perform(phone.handle(.reset, at: instant))
  }

  // MARK: Names

  static func callID(_ uuid: UUID) -> CallID {
    let bytes = uuid.uuid
    let low = UInt64(bytes.12) << 24 | UInt64(bytes.13) << 16 | UInt64(bytes.14) << 8
    return CallID(high: 0, low: low | UInt64(bytes.15))
  }

  static func uuid(_ call: CallID) -> UUID {
    let byte = { (shift: UInt64) in UInt8(truncatingIfNeeded: call.low >> shift) }
    return UUID(
      uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(24), byte(16), byte(8), byte(0))
    )
  }

  // MARK: What must hold

  /// Describes a broken invariant of this machine; nil if none is broken.
  func fault() -> String? {
    guard isRunning else { return nil }
    switch (control.audio, devices) {
    case (.inactive, .closed), (.inactive, .closing), (.activating, .opening), (.active, .open):
      break
    default: return "the session is \(control.audio), the devices are \(devices)"
    }
    if legs.count != phone.calls.count { return "\(legs.count) ports, \(phone.calls.count) calls" }
    for action in control.pendingActions where action.deadline < instant {
      return "an action outlived its deadline: \(action)"
    }
    for call in phone.calls {
      guard call.establishedAt == nil, let since = begun[call.uuid] else { continue }
      if world.now - since > Self.longestRing { return "\(call.remote) rings for ever" }
    }
    guard inbox.isEmpty, control.pendingActions.isEmpty else { return nil }
    let phones = Set(phone.calls.map { Self.callID($0.uuid) })
    if phones != Set(control.calls.map(\.id)) { return "phone and call system have other calls" }
    return nil
  }

  /// Longest time that a call may ring, in nanoseconds.
  ///
  /// Both sides give up before that, although a start action has ten minutes.
  private static let longestRing: Int64 = 240_000_000_000

  /// True if nothing is left of any call.
  var isIdle: Bool {
    phone.calls.isEmpty && control.calls.isEmpty && signalling.isForgotten && devices == .closed
  }
}
