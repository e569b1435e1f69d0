public import MediaTime

/// What an action asks for.
public enum ActionKind: Equatable, Sendable {
  /// Place a call.
  case start
  /// Take an incoming call.
  case answer
  /// End a call, whatever its phase.
  case end
  /// Send silence, or the microphone again.
  case setMuted(Bool)

  /// How long the app may take: 600 s to start, 60 s to answer, 5 s for the rest (R1).
  public var timeout: Duration {
    switch self {
    case .start: .seconds(600)
    case .answer: .seconds(60)
    case .end, .setMuted: .seconds(5)
    }
  }
}

/// How an action ended.
public enum ActionOutcome: Equatable, Sendable {
  /// The app fulfilled it.
  case fulfilled
  /// The app failed it.
  case failed
  /// The app did not answer in time.
  case timedOut
  /// It lost its object: the call ended, another action superseded it, or the provider was reset.
  case voided
}

/// An action as it is delivered to the app.
public struct CallAction: Equatable, Sendable {
  /// Its name.
  public let id: ActionID
  /// The call it is about.
  public let call: CallID
  /// What it asks for.
  public let kind: ActionKind
  /// When it times out.
  public let deadline: MonotonicInstant
}

/// An action that is wished for and not yet accepted.
public struct ActionRequest: Equatable, Sendable {
  /// The call it is about.
  public let call: CallID
  /// What it asks for.
  public let kind: ActionKind

  /// A wish for `kind` on `call`.
  public init(call: CallID, kind: ActionKind) {
    self.call = call
    self.kind = kind
  }
}

/// Why a transaction is refused, in the order in which the checks are made (R21).
public enum TransactionRefusal: Error, Equatable, Sendable {
  /// It has no actions.
  case emptyTransaction
  /// The provider was invalidated.
  case unknownCallProvider
  /// A start names a call that lives.
  case callUUIDAlreadyExists
  /// Another action names a call that does not.
  case unknownCallUUID
  /// The call is not in a phase for this action.
  case invalidAction
  /// A start would exceed the number of calls.
  case maximumCallGroupsReached
}

/// Why an incoming call is refused.
public enum IncomingRefusal: Error, Equatable, Sendable {
  /// The provider was invalidated.
  case unknownCallProvider
  /// A call of that name lives.
  case callUUIDAlreadyExists
}
