import MediaCore

/// Phase of a call.
package enum CallPhase: Equatable, Sendable {
  /// Outgoing; the start action is not answered.
  case starting
  /// Outgoing; the start action was fulfilled.
  case started
  /// Outgoing; the app reported that it is connecting.
  case connecting
  /// Incoming; not answered.
  case ringing
  /// Incoming; the user has answered, but the app has not fulfilled the answer action.
  case answering
  /// Both sides can talk.
  case connected
  /// Over.
  case ended
}

/// A call from the observers' point of view: its identity and four facts at one moment.
package struct CallSnapshot: Equatable, Sendable {
  /// Identity of the call.
  package let id: CallID
  /// True if this side placed it.
  package let isOutgoing: Bool
  /// True while the call is held.
  package let isOnHold: Bool
  /// True once both sides could talk.
  package let hasConnected: Bool
  /// True once the call is over.
  package let hasEnded: Bool

  /// A call with these facts.
  package init(
    id: CallID,
    isOutgoing: Bool,
    isOnHold: Bool,
    hasConnected: Bool,
    hasEnded: Bool
  ) {
    self.id = id
    self.isOutgoing = isOutgoing
    self.isOnHold = isOnHold
    self.hasConnected = hasConnected
    self.hasEnded = hasEnded
  }
}

/// One call, and every transition that it can make.
///
/// | Phase | Event | New phase |
/// |---|---|---|
/// | – | start accepted | starting |
/// | – | incoming reported | ringing |
/// | starting | start fulfilled | started, or what was reported meanwhile; has audio |
/// | started, connecting | connecting, connected reported | connecting, connected |
/// | ringing | answer delivered | answering |
/// | answering | answer fulfilled | connected; has audio |
/// | any | hold, resume, mute fulfilled | the same |
/// | any | end | ended |
///
/// A call is *audible* while it has audio and is not held, and *active* while it is neither ringing
/// nor held nor over.
struct Call: Equatable, Sendable {
  let id: CallID
  let provider: ProviderID
  let isOutgoing: Bool
  private(set) var phase: CallPhase
  private(set) var isOnHold = false
  private(set) var isMuted = false
  /// True from the fulfilment of start or answer until the call ends or its audio fails.
  private(set) var hasAudio = false
  private(set) var started: CallDate
  private(set) var connected: CallDate?
  /// Number of the latest hold, which grows with each hold of any call; 0 if there was none.
  private(set) var holdNumber = 0
  var details: CallDetails
  /// Remark of the app on the call, such as that it is encrypted; nil for none.
  var remark: String?
  var group: GroupID?
  /// Time at which ringing ends by itself; nil unless the call rings.
  private(set) var ringDeadline: MonotonicInstant?
  /// True once another incoming call arrived while this one rang (R43).
  var isRingtoneSilenced = false
  /// Progress reported before the start was fulfilled; applied then (R56).
  private var earlyProgress: CallPhase?

  var isAudible: Bool { hasAudio && !isOnHold }
  var isActive: Bool { !isOnHold && phase != .ringing && phase != .ended }
  var hasConnected: Bool { connected != nil && phase != .starting }

  var snapshot: CallSnapshot {
    CallSnapshot(
      id: id,
      isOutgoing: isOutgoing,
      isOnHold: isOnHold,
      hasConnected: hasConnected,
      hasEnded: phase == .ended
    )
  }

  /// Creates a call that this side places.
  init(outgoing id: CallID, provider: ProviderID, details: CallDetails, at date: CallDate) {
    self.id = id
    self.provider = provider
    isOutgoing = true
    phase = .starting
    started = date
    self.details = details
  }

  /// Creates an incoming call, which rings.
  init(
    incoming id: CallID,
    provider: ProviderID,
    details: CallDetails,
    at date: CallDate,
    ringsUntil deadline: MonotonicInstant
  ) {
    self.id = id
    self.provider = provider
    isOutgoing = false
    phase = .ringing
    started = date
    self.details = details
    ringDeadline = deadline
  }

  mutating func startFulfilled(at date: CallDate) {
    guard phase == .starting else { return }
    started = date
    phase = earlyProgress ?? .started
    hasAudio = true
  }

  mutating func answerDelivered() {
    guard phase == .ringing else { return }
    phase = .answering
    ringDeadline = nil
  }

  mutating func answerFulfilled(at date: CallDate) {
    guard phase == .answering else { return }
    phase = .connected
    connected = date
    hasAudio = true
  }

  mutating func progressed(to progress: CallPhase, at date: CallDate) {
    guard isOutgoing, connected == nil else { return }
    if progress == .connected { connected = date }
    if phase == .starting { earlyProgress = progress } else { phase = progress }
  }

  mutating func setHeld(_ isOnHold: Bool, number: Int) {
    if isOnHold && !self.isOnHold { holdNumber = number }
    self.isOnHold = isOnHold
  }

  mutating func setMuted(_ isMuted: Bool) {
    self.isMuted = isMuted
  }

  mutating func endDelivered() {
    ringDeadline = nil
  }

  mutating func audioFailed() {
    hasAudio = false
  }

  mutating func ended() {
    // What was reported of a call that never started did not come about.
    if phase == .starting { connected = nil }
    phase = .ended
    hasAudio = false
    ringDeadline = nil
  }
}
