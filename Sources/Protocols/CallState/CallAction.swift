public import MediaCore

/// What a start action asks for.
public struct StartRequest: Equatable, Sendable {
  /// Whom to call.
  public let handle: CallHandle
  /// The contact card behind the handle; some apps put a name there (R61).
  public let contactIdentifier: String?
  /// True for a call with pictures.
  public let isVideo: Bool

  /// A call to `handle`.
  public init(handle: CallHandle, contactIdentifier: String? = nil, isVideo: Bool = false) {
    self.handle = handle
    self.contactIdentifier = contactIdentifier
    self.isVideo = isVideo
  }
}

/// Why tones are sent; numbers as Apple gives them (R85).
public enum DTMFKind: Int, Equatable, Sendable {
  /// The user pressed a key.
  case singleTone = 1
  /// Digits behind a comma.
  case softPause = 2
  /// Digits behind a semicolon.
  case hardPause = 3
}

/// What an action asks for.
public enum ActionKind: Equatable, Sendable {
  /// Place a call.
  case start(StartRequest)
  /// Take an incoming call.
  case answer
  /// End a call, whatever its phase.
  case end
  /// Hold a call, or resume it.
  case setHeld(Bool)
  /// Send silence, or the microphone again.
  case setMuted(Bool)
  /// Talk to it together with another call, or leave the group.
  case setGroup(CallID?)
  /// Send tones.
  case playDTMF(digits: String, DTMFKind)
  /// Nothing that a provider performs.
  case unsupported

  /// How long the app may take: 600 s to start, 60 s to answer, 5 s for the rest (R1).
  public var timeout: Duration {
    switch self {
    case .start: .seconds(600)
    case .answer: .seconds(60)
    default: .seconds(5)
    }
  }

  /// True if its fulfilment lets a call be heard that was not.
  var opensAudio: Bool {
    switch self {
    case .start, .answer, .setHeld(false): true
    default: false
    }
  }

  var isStart: Bool {
    if case .start = self { true } else { false }
  }
}

/// Who wanted an action.
public enum ActionOrigin: Equatable, Sendable {
  /// The app, by a transaction of its own.
  case app
  /// The user, on the system's call screen.
  case user
  /// The system, following its rules.
  case system
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
  /// Whose call that is.
  public let provider: ProviderID
  /// What it asks for.
  public let kind: ActionKind
  /// Who wanted it.
  public let origin: ActionOrigin
  /// When it times out.
  public let deadline: MonotonicInstant
}

/// An action that is wished for and not yet accepted.
public struct ActionRequest: Equatable, Sendable {
  /// The call it is about, nil if it names none.
  public let call: CallID?
  /// What it asks for.
  public let kind: ActionKind

  /// A wish for `kind` on `call`.
  public init(call: CallID?, kind: ActionKind) {
    self.call = call
    self.kind = kind
  }
}

/// Why a transaction is refused, in the order in which the checks are made (R21).
public enum TransactionRefusal: Error, Equatable, Sendable {
  /// It has no actions.
  case emptyTransaction
  /// There is no valid provider.
  case unknownCallProvider
  /// A start names a call that lives.
  case callUUIDAlreadyExists
  /// Another action names a call that does not.
  case unknownCallUUID
  /// The call is not one for this action.
  case invalidAction
  /// A start would exceed the number of groups.
  case maximumCallGroupsReached
}

/// Why an incoming call is refused, in the order in which the checks are made (R41).
public enum IncomingRefusal: Error, Equatable, Sendable {
  /// The provider was invalidated.
  case unknownCallProvider
  /// A call of that name lives.
  case callUUIDAlreadyExists
  /// The user blocked the caller.
  case filteredByBlockList
  /// The user does not want to be disturbed.
  case filteredByDoNotDisturb
}

/// What the user's lists say of a caller.
public struct CallerScreening: Equatable, Sendable {
  /// On the block list.
  public var isBlocked: Bool
  /// Do not disturb is on, and the caller has no exemption.
  public var isSilenced: Bool
  /// The call directory's label.
  public var label: String?

  /// What the lists say; by default nothing.
  public init(isBlocked: Bool = false, isSilenced: Bool = false, label: String? = nil) {
    self.isBlocked = isBlocked
    self.isSilenced = isSilenced
    self.label = label
  }
}

/// What a provider's configuration says of limits and lists.
public struct ProviderSettings: Equatable, Sendable {
  /// How many groups of calls there may be before a start is refused.
  public var maximumCallGroups: Int
  /// How many calls a group may have.
  public var maximumCallsPerCallGroup: Int
  /// Whether ended calls are recorded.
  public var includesCallsInRecents: Bool
  /// The kinds of address that the app can dial from the list of recent calls.
  public var supportedHandleKinds: Set<CallHandle.Kind>
  /// The file of the ringtone, nil for the system's.
  public var ringtoneSound: String?
  /// How long an incoming call rings before it ends by itself (R47).
  public var ringDuration = Duration.seconds(60)

  /// Apple's defaults.
  public init(
    maximumCallGroups: Int = 2,
    maximumCallsPerCallGroup: Int = 5,
    includesCallsInRecents: Bool = true,
    supportedHandleKinds: Set<CallHandle.Kind> = [],
    ringtoneSound: String? = nil
  ) {
    self.maximumCallGroups = maximumCallGroups
    self.maximumCallsPerCallGroup = maximumCallsPerCallGroup
    self.includesCallsInRecents = includesCallsInRecents
    self.supportedHandleKinds = supportedHandleKinds
    self.ringtoneSound = ringtoneSound
  }
}
