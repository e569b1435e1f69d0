import MediaCore
import Testing

@testable import CallState

/// A call control, a clock and an app that keeps every delivered action: what happens is noted in
/// one line each, in the words of the sequences (`(o)` is what observers see).
final class CallScript {
  var control = CallControl()
  var provider: ProviderID
  /// Everything that has happened since `take`.
  private(set) var log: [String] = []
  private(set) var records: [CallRecord] = []
  private(set) var delivered: [CallAction] = []
  /// Times that another program was let resume its call.
  private(set) var returns = 0
  private var seen: [CallID: CallSnapshot] = [:]
  private var seconds = 0.0
  /// False to leave activations under way until `audioActivated` or `audioFailed` is called.
  var opensAudioAtOnce = true

  init(groups: Int = 2, callsPerGroup: Int = 5, ringing seconds: Int = 60) {
    var settings = ProviderSettings(
      maximumCallGroups: groups,
      maximumCallsPerCallGroup: callsPerGroup
    )
    settings.ringDuration = .seconds(seconds)
    provider = control.addProvider(settings)
    control.setHasDelegate(provider, true)
  }

  var now: Moment {
    Moment(
      instant: MonotonicInstant(nanoseconds: Int64(seconds * 1e9)),
      date: CallDate(secondsSince1970: 1_000_000 + seconds)
    )
  }

  static func id(_ name: Character) -> CallID {
    CallID(high: 0, low: UInt64(name.asciiValue ?? 0))
  }

  static func name(_ id: CallID) -> String {
    String(UnicodeScalar(UInt8(truncatingIfNeeded: id.low)))
  }

  static let bob = CallHandle(kind: .generic, value: "bob")

  // MARK: What is done

  @discardableResult
  func request(_ requests: (Character, ActionKind)...) throws -> [CallAction] {
    let actions = try control.request(
      requests.map { ActionRequest(call: Self.id($0.0), kind: $0.1) },
      at: now
    )
    note()
    return actions
  }

  @discardableResult
  func start(_ name: Character) throws -> [CallAction] {
    try request((name, .start(StartRequest(handle: Self.bob))))
  }

  func incoming(
    _ name: Character,
    _ update: CallUpdate = CallUpdate(),
    screening: CallerScreening = CallerScreening()
  ) throws {
    try control.reportIncoming(Self.id(name), update, of: provider, screening: screening, at: now)
    note()
  }

  func decide(_ decision: UserDecision) {
    control.decide(decision, at: now)
    note()
  }

  @discardableResult
  func answer(_ action: CallAction, isFulfilled: Bool = true) -> Bool {
    let isTaken = control.answer(action.id, isFulfilled: isFulfilled, at: now)
    note()
    return isTaken
  }

  /// Fulfils the oldest pending action of a call, whatever it asks for.
  func fulfil(_ name: Character) throws {
    let id = Self.id(name)
    answer(try #require(control.pendingActions.first { $0.call == id }))
  }

  func fail(_ name: Character) throws {
    let id = Self.id(name)
    answer(try #require(control.pendingActions.first { $0.call == id }), isFulfilled: false)
  }

  func ended(_ name: Character, _ reason: EndedReason = .remoteEnded) {
    control.reportEnded(Self.id(name), of: provider, reason: reason, at: now)
    note()
  }

  func connecting(_ name: Character) {
    control.reportConnecting(Self.id(name), of: provider, at: now.date)
    note()
  }

  func connected(_ name: Character) {
    control.reportConnected(Self.id(name), of: provider, at: now.date)
    note()
  }

  func update(_ name: Character, _ update: CallUpdate) {
    control.update(Self.id(name), update, of: provider)
    note()
  }

  func wait(_ seconds: Double) {
    self.seconds += seconds
    control.advance(to: now)
    note()
  }

  func makeWay() {
    control.makeWayForOtherProgram(at: now)
    note()
  }

  func takeBack() {
    control.takeBackFromOtherProgram(at: now)
    note()
  }

  func reset() {
    control.reset(at: now)
    note()
  }

  func invalidate() {
    control.invalidate(provider, at: now)
    note()
  }

  func audioFailed() {
    control.audioActivationFailed(at: now)
    note()
  }

  func audioActivated() {
    control.audioActivated()
    note()
  }

  /// Makes an outgoing call and connects it.
  func talk(_ name: Character) throws {
    try start(name)
    try fulfil(name)
    connected(name)
    take()
  }

  // MARK: What happened

  /// Clears the log and returns what it had.
  @discardableResult
  func take() -> [String] {
    defer { log = [] }
    return log
  }

  func phase(_ name: Character) -> CallPhase? {
    control.presentation.calls.first { $0.id == Self.id(name) }?.phase
  }

  func entry(_ name: Character) -> CallPresentation.Entry? {
    control.presentation.calls.first { $0.id == Self.id(name) }
  }

  private func note() {
    while let effect = control.nextEffect() {
      switch effect {
      case .deliver(let actions):
        delivered += actions
        log.append("execute \(actions.count)")
        log += actions.map { "perform " + Self.text($0) }
      case .timedOut(let action): log.append("timedOut " + Self.text(action))
      case .finished(let action, .voided): log.append("voided " + Self.text(action))
      case .finished: break
      case .callChanged(let call): log.append("(o) " + observe(call))
      case .activateAudio: if opensAudioAtOnce { control.audioActivated() }
      case .audioActivated(let owner):
        log.append(owner == provider ? "didActivate" : "didActivate \(owner.rawValue)")
      case .deactivateAudio(let owner?, _):
        log.append(owner == provider ? "didDeactivate" : "didDeactivate \(owner.rawValue)")
      case .deactivateAudio(nil, _): log.append("devices released")
      case .giveBack: returns += 1
      case .didReset: log.append("reset")
      case .recorded(let record):
        records.append(record)
        log.append("recorded \(Self.name(record.id)) \(record.result)")
      }
    }
  }

  private func observe(_ call: CallSnapshot) -> String {
    let before = seen.updateValue(call, forKey: call.id)
    if call.hasEnded { seen[call.id] = nil }
    let change =
      switch (before, call) {
      case (_, let call) where call.hasEnded: "ended"
      case (nil, let call): call.isOutgoing ? "new, outgoing" : "new"
      case (let before?, let call) where before.isOnHold != call.isOnHold:
        call.isOnHold ? "held" : "resumed"
      case (let before?, let call) where before.hasConnected != call.hasConnected: "connected"
      default: "unchanged"
      }
    return "\(Self.name(call.id)) \(change)"
  }

  private static func text(_ action: CallAction) -> String {
    let verb =
      switch action.kind {
      case .start: "start"
      case .answer: "answer"
      case .end: "end"
      case .setHeld(let isOnHold): isOnHold ? "hold" : "resume"
      case .setMuted(let isMuted): isMuted ? "mute" : "unmute"
      case .setGroup(let other): other.map { "group with \(name($0)) " } ?? "ungroup"
      case .playDTMF(let digits, _): "press \(digits)"
      case .unsupported: "unsupported"
      }
    return "\(verb) \(name(action.call))"
  }
}
