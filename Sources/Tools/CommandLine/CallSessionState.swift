import Foundation
import Localization
import SidetonePhone
import VoiceEngine

/// Calls of a session as its user sees them, and the effects of keys and time on them.
///
/// A value without input or output: events in, effects out. `CallSession` performs them.
struct CallSessionState: Equatable {
  /// Event that a session reacts to.
  enum Event: Equatable {
    case phone(PhoneEvent)
    case key(Character)
    case statistics(CallStatistics)
    /// A call has lasted as long as the user allows.
    case timeIsUp(UUID)
    /// The user wants to end the program.
    case interrupted
    /// A link asks for a call that may cost money; the user has been asked about it.
    case linked(String)
    /// The call that the program was started for could not be placed.
    case callFailed(String)
  }

  /// Action that a session asks for.
  enum Effect: Equatable {
    case answer(UUID)
    case endAndAnswer(UUID)
    case end(UUID)
    case setMuted(UUID, MuteState)
    case setHeld(UUID, Bool)
    case join(UUID, with: UUID)
    /// Connects the far sides of two calls (attended transfer).
    case connect(UUID, with: UUID)
    case transfer(UUID, to: String)
    /// Calls the transfer target that the far side has asked for (true), or declines the request
    /// (false).
    case followTransfer(UUID, Bool)
    /// Calls the address that a link has named.
    case call(String)
    /// Shows the transfer target as far as it has been typed; nil once it is complete or cancelled.
    case showTarget(String?)
    case press(UUID, String)
    /// Starts (true) or ends (false) the recording of a call.
    case record(UUID, Bool)
    /// Marks the far side as verified: the user has compared the words.
    case verify(UUID)
    /// Sends `timeIsUp` once the call has lasted as long as the user allows.
    case limit(UUID)
    /// Shows the figures of a call that has ended.
    case summarize(CallStatistics)
  }

  /// State of one call.
  struct Line: Equatable {
    let call: UUID
    var isRinging = false
    var isConnected = false
    var isHeld = false
    var isMuted = false
    /// True once the mute state is known, from the user's keys or from the call's first figures.
    var isMuteKnown = false
    var isRecorded = false
  }

  /// Behaviour that the options of a session choose.
  struct Policy: Equatable {
    /// True to answer a caller at once if there is no other call.
    var answersAtOnce = false
    /// True to end the program with the first call that ends.
    var endsAfterFirst = false
  }

  private(set) var lines: [Line] = []
  private let policy: Policy
  private var interrupts = 0
  private var failedCall: String?
  private var lastReason = ""
  private var isAudioActive = false
  /// Files of unfinished recordings, including those of calls that have ended.
  private var unfinishedFiles: Set<String> = []
  /// True if the last call ended well, false if not; nil before the first has ended.
  private var outcome: Bool?
  private var statistics: CallStatistics?
  /// The call whose far side has asked for a transfer, until the user has decided.
  private var requested: UUID?
  /// True once that call is over.
  private var isRequestLeft = false
  /// Address that a link asks to call, until the user has decided.
  private var linked: String?
  /// Transfer target, as far as it has been typed; nil while keys have their usual meaning.
  private var typed: String?

  /// Creates a session without calls.
  init(_ policy: Policy) { self.policy = policy }

  /// Call that is neither held nor ringing here; it may not be connected yet.
  var active: Line? { lines.first { !$0.isHeld && !$0.isRinging } }
  /// Calls that the user talks to, several in a conference.
  private var talking: [Line] { lines.filter { $0.isConnected && !$0.isHeld } }
  private var held: Line? { lines.last { $0.isHeld } }
  private var ringing: Line? { lines.first { $0.isRinging } }

  /// True once the program is to end: after an interrupt, or with `endsAfterFirst` after the first
  /// call, once no calls, devices and unfinished recordings are left.
  ///
  /// True at once after a second interrupt or a failure to place the call.
  var isOver: Bool {
    if interrupts > 1 || failedCall != nil { return true }
    let isIdle = lines.isEmpty && !isAudioActive && unfinishedFiles.isEmpty
    return isIdle && (interrupts > 0 || policy.endsAfterFirst && outcome != nil)
  }

  /// Reason why the program ends with status 1; nil if it ends well.
  var failure: String? {
    if let failedCall { return failedCall }
    if outcome == false {
      return String(localized: "the call did not end well: \(reason: lastReason)")
    }
    let isInterrupted = policy.endsAfterFirst && outcome == nil
    return isInterrupted ? String(localized: "interrupted before a call") : nil
  }

  /// Handles an event, and returns the effects to perform, in this order.
  mutating func handle(_ event: Event) -> [Effect] {
    switch event {
    case .phone(let event):
      return note(event)
    case .key(let key):
      return press(key)
    case .statistics(let statistics):
      self.statistics = statistics
      // A call that took another's place is muted as that was.
      change(statistics.call) { line in
        if !line.isMuteKnown { (line.isMuted, line.isMuteKnown) = (statistics.isMuted, true) }
      }
      return []
    case .timeIsUp(let call):
      return lines.contains { $0.call == call } ? [.end(call)] : []
    case .linked(let address):
      forgetLeftRequest()
      linked = address
      return []
    case .callFailed(let reason):
      failedCall = reason
      return []
    case .interrupted:
      // The first hangs up, a second one does not wait for that.
      interrupts += 1
      return lines.map { .end($0.call) }
    }
  }

  private mutating func change(_ call: UUID, _ body: (inout Line) -> Void) {
    guard let index = lines.firstIndex(where: { $0.call == call }) else { return }
    body(&lines[index])
  }

  // A request for a transfer outlives its call until something else happens.
  private mutating func forgetLeftRequest() {
    if isRequestLeft { requested = nil }
    isRequestLeft = false
  }

  private mutating func note(_ event: PhoneEvent) -> [Effect] {
    switch event {
    case .incoming(let call, _):
      forgetLeftRequest()
      lines.append(Line(call: call, isRinging: true))
      // A second caller never interrupts a call by himself.
      return policy.answersAtOnce && lines.count == 1 ? [.answer(call)] : []
    case .calling(let call, _):
      forgetLeftRequest()
      lines.append(Line(call: call))
    case .connected(let call, _):
      change(call) {
        $0.isRinging = false
        $0.isConnected = true
      }
      return [.limit(call)]
    case .transferRequested(let call, _):
      (requested, isRequestLeft) = (call, false)
    case .held(let call):
      change(call) { $0.isHeld = true }
    case .resumed(let call):
      change(call) { $0.isHeld = false }
    case .recording(let call, let file):
      unfinishedFiles.insert(file)
      change(call) { $0.isRecorded = true }
    case .recordingEnded(let call, let file, _):
      unfinishedFiles.remove(file)
      change(call) { $0.isRecorded = false }
    case .ended(let call, let end):
      let isMissed = lines.first { $0.call == call }?.isRinging == true
      lines.removeAll { $0.call == call }
      // Who transfers a call may hang up before the user has decided.
      isRequestLeft = requested == call && end == .hungUpByFarSide
      if requested == call, !isRequestLeft { requested = nil }
      // A missed caller is no call that went wrong, unless the program waited for one.
      if !isMissed || policy.endsAfterFirst && outcome == nil {
        lastReason = "\(end)"
        outcome = end.isClean
      }
      guard let last = statistics, last.call == call else { return [] }
      statistics = nil
      return [.summarize(last)]
    case .audioActivated:
      isAudioActive = true
    case .audioDeactivated:
      isAudioActive = false
    case .registered, .accountRegistered, .accountUnregistered, .accountStep, .ringing, .secured,
      .routed,
      .verified, .error, .heldByFarSide, .resumedByFarSide, .renamed,
      .joined, .separated, .messagesWaiting, .transferring,
      .pressed, .routeChanged, .mediaServicesLost, .mediaServicesReset:
      break
    }
    return []
  }

  private mutating func type(_ key: Character, after text: String) -> [Effect] {
    switch key {
    case "\n", "\r", "\r\n":
      typed = nil
      guard !text.isEmpty, let line = active ?? held, line.isConnected else {
        return [.showTarget(nil)]
      }
      return [.showTarget(nil), .transfer(line.call, to: text)]
    case "\u{1B}":
      typed = nil
      return [.showTarget(nil)]
    case "\u{7F}", "\u{8}":
      typed = String(text.dropLast())
    default:
      typed = text + String(key)
    }
    return [.showTarget(typed)]
  }

  private mutating func mute(_ lines: [Line], _ isMuted: Bool) -> [Effect] {
    lines.map { line in
      change(line.call) { ($0.isMuted, $0.isMuteKnown) = (isMuted, true) }
      return .setMuted(line.call, isMuted ? .muted : .unmuted)
    }
  }

  private mutating func press(_ key: Character) -> [Effect] {
    if let typed { return type(key, after: typed) }
    switch key {
    case "a": return ringing.map { [.answer($0.call)] } ?? []
    case "e": return ringing.map { [.endAndAnswer($0.call)] } ?? []
    case "d": return ringing.map { [.end($0.call)] } ?? []
    case "h", "q": return (active ?? held ?? ringing).map { [.end($0.call)] } ?? []
    case "v":
      return (active ?? ringing).map { [.verify($0.call)] } ?? []
    case "m":
      return mute(talking, !talking.allSatisfy(\.isMuted))
    case "o", "s":
      // Resuming one holds the other: with two calls both keys swap.
      if let held { return [.setHeld(held.call, false)] }
      guard let active, active.isConnected else { return [] }
      return [.setHeld(active.call, true)]
    case "c":
      guard let active, let held else { return [] }
      // A conference is muted as a whole, and first of all: nothing slips out.
      let isMuted = active.isMuted || held.isMuted
      return mute(isMuted ? [active, held].filter { !$0.isMuted } : [], true)
        + [.join(held.call, with: active.call)]
    case "r":
      guard let active, active.isConnected else { return [] }
      return [.record(active.call, !active.isRecorded)]
    case "y", "n":
      if let call = requested {
        requested = nil
        return [.followTransfer(call, key == "y")]
      }
      defer { linked = nil }
      return key == "y" ? linked.map { [.call($0)] } ?? [] : []
    case "t":
      guard let line = active ?? held, line.isConnected else { return [] }
      if let active, let held { return [.connect(held.call, with: active.call)] }
      typed = ""
      return [.showTarget("")]
    case "0"..."9", "*", "#":
      // Menus may ask for keys in early media; the phone knows whether they can be sent.
      guard let active else { return [] }
      return [.press(active.call, String(key))]
    default:
      return []
    }
  }
}
