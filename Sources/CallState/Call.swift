import MediaTime

/// Where a call stands.
public enum CallPhase: Equatable, Sendable {
  /// Outgoing, the start action is not answered.
  case starting
  /// Outgoing, started.
  case started
  /// Outgoing, the far side was found.
  case connecting
  /// Incoming, nobody reacted yet.
  case ringing
  /// Incoming, the answer action is not answered.
  case answering
  /// Both sides can talk.
  case connected
  /// Over.
  case ended
}

/// A call as observers see it.
public struct CallSnapshot: Equatable, Sendable {
  /// Its name.
  public let id: CallID
  /// True if this side placed it.
  public let isOutgoing: Bool
  /// Where it stands.
  public let phase: CallPhase
  /// True once both sides could talk.
  public let hasConnected: Bool
  /// True while silence is sent.
  public let isMuted: Bool

  /// True when it is over.
  public var hasEnded: Bool { phase == .ended }
}

/// A call as the machine keeps it.
struct Call: Equatable, Sendable {
  let id: CallID
  let isOutgoing: Bool
  var phase: CallPhase
  var hasConnected = false
  var isMuted = false
  /// True from the fulfilment of start or answer to the end: the session is active for it.
  var isAudible = false
  /// Progress reported before the start was fulfilled; applied then (R56).
  var reportedProgress: CallPhase?
  /// When ringing ends by itself.
  var ringDeadline: MonotonicInstant?

  var snapshot: CallSnapshot {
    CallSnapshot(
      id: id,
      isOutgoing: isOutgoing,
      phase: phase,
      hasConnected: hasConnected,
      isMuted: isMuted
    )
  }
}
