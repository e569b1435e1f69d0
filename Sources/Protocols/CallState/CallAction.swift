package import MediaCore

/// Parameters of a start action.
package struct StartRequest: Equatable, Sendable {
  /// Address to call.
  package let handle: CallHandle
  /// Identifier of the contact card behind the handle; some apps put a name there (R61).
  package let contactIdentifier: String?
  /// True for a video call.
  package let isVideo: Bool

  /// Creates the parameters of a call to `handle`.
  package init(handle: CallHandle, contactIdentifier: String? = nil, isVideo: Bool = false) {
    self.handle = handle
    self.contactIdentifier = contactIdentifier
    self.isVideo = isVideo
  }
}

/// Occasion of DTMF digits, with Apple's numbers (R85).
package enum DTMFKind: Int, Equatable, Sendable {
  /// A key that the user pressed.
  case singleTone = 1
  /// Digits after a comma in a dial string.
  case softPause = 2
  /// Digits after a semicolon in a dial string.
  case hardPause = 3
}

/// Operation that an action requests.
package enum ActionKind: Equatable, Sendable {
  /// Place a call.
  case start(StartRequest)
  /// Answer an incoming call.
  case answer
  /// End a call, whatever its phase.
  case end
  /// Hold a call, or resume it.
  case setHeld(Bool)
  /// Mute a call, or unmute it.
  case setMuted(Bool)
  /// Group a call with another; with nil, take it out of its group.
  case setGroup(CallID?)
  /// Send DTMF digits.
  case playDTMF(digits: String, DTMFKind)
  /// An operation that no provider performs.
  case unsupported

  /// Time that the app may take to answer: 600 s for start, 60 s for answer, 5 s for the rest (R1).
  package var timeout: Duration {
    switch self {
    case .start: .seconds(600)
    case .answer: .seconds(60)
    default: .seconds(5)
    }
  }

  /// True if fulfilling it makes an inactive call active.
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

/// Originator of an action.
package enum ActionOrigin: Equatable, Sendable {
  /// The app, by a transaction of its own.
  case app
  /// The user, on the system's call screen.
  case user
  /// The system, by its own rules.
  case system
}

/// Outcome of an action.
package enum ActionOutcome: Equatable, Sendable {
  /// The app fulfilled it.
  case fulfilled
  /// The app failed it.
  case failed
  /// The app did not answer in time.
  case timedOut
  /// The action became void: its call ended, another action superseded it, or the provider was
  /// reset.
  case voided
}

/// An action as it is delivered to the app.
package struct CallAction: Equatable, Sendable {
  /// Identity of the action.
  package let id: ActionID
  /// Call that the action is about.
  package let call: CallID
  /// Provider of the call.
  package let provider: ProviderID
  /// Operation that the action requests.
  package let kind: ActionKind
  /// Originator of the action.
  package let origin: ActionOrigin
  /// Time at which the action times out.
  package let deadline: MonotonicInstant
}

/// A requested action that has not been accepted yet.
package struct ActionRequest: Equatable, Sendable {
  /// Call that the action is about; nil if it names none.
  package let call: CallID?
  /// Operation that the action requests.
  package let kind: ActionKind

  /// Creates a request for `kind` on `call`.
  package init(call: CallID?, kind: ActionKind) {
    self.call = call
    self.kind = kind
  }
}

/// Reason why a transaction is refused, in the order of the checks (R21).
package enum TransactionRefusal: Error, Equatable, Sendable {
  /// The transaction has no actions.
  case emptyTransaction
  /// There is no valid provider.
  case unknownCallProvider
  /// A call with the UUID that a start action names exists already.
  case callUUIDAlreadyExists
  /// There is no call with the UUID that another action names.
  case unknownCallUUID
  /// The action does not suit the state of its call.
  case invalidAction
  /// A start action would exceed the maximum number of groups.
  case maximumCallGroupsReached
}

/// Reason why an incoming call is refused, in the order of the checks (R41).
package enum IncomingRefusal: Error, Equatable, Sendable {
  /// The provider was invalidated.
  case unknownCallProvider
  /// There is a call with this UUID already.
  case callUUIDAlreadyExists
  /// The user blocked the caller.
  case filteredByBlockList
  /// Do Not Disturb is on, and the caller has no exemption.
  case filteredByDoNotDisturb
}

/// Entries for a caller in the user's block list, Do Not Disturb settings and call directory.
package struct CallerScreening: Equatable, Sendable {
  /// True if the caller is on a block list.
  package var isBlocked: Bool
  /// True if Do Not Disturb is on and the caller has no exemption.
  package var isSilenced: Bool
  /// Label of the caller in the call directory; nil if there is none.
  package var label: String?

  /// Creates the entries for a caller, by default one that is on no list.
  package init(isBlocked: Bool = false, isSilenced: Bool = false, label: String? = nil) {
    self.isBlocked = isBlocked
    self.isSilenced = isSilenced
    self.label = label
  }
}

/// Settings of a provider, from its configuration.
package struct ProviderSettings: Equatable, Sendable {
  /// Name of the app on the call screen.
  package var name: String
  /// Maximum number of calls and groups, a group counting as one, beyond which a start is refused.
  package var maximumCallGroups: Int
  /// Maximum number of calls in a group.
  package var maximumCallsPerCallGroup: Int
  /// True to record ended calls in the list of recent calls.
  package var includesCallsInRecents: Bool
  /// Kinds of address that the app can dial from the list of recent calls.
  package var supportedHandleKinds: Set<CallHandle.Kind>
  /// Name or path of the ringtone's file; nil for the system's ringtone.
  package var ringtoneSound: String?
  /// PNG file with the app's icon for the call screen; nil for the system's icon.
  package var icon: [UInt8]?
  /// Time that an incoming call rings before it ends by itself (R47).
  package var ringDuration = Duration.seconds(60)

  /// Creates settings, by default Apple's.
  package init(
    name: String = "",
    maximumCallGroups: Int = 2,
    maximumCallsPerCallGroup: Int = 5,
    includesCallsInRecents: Bool = true,
    supportedHandleKinds: Set<CallHandle.Kind> = [],
    ringtoneSound: String? = nil,
    icon: [UInt8]? = nil
  ) {
    self.name = name
    self.maximumCallGroups = maximumCallGroups
    self.maximumCallsPerCallGroup = maximumCallsPerCallGroup
    self.includesCallsInRecents = includesCallsInRecents
    self.supportedHandleKinds = supportedHandleKinds
    self.ringtoneSound = ringtoneSound
    self.icon = icon
  }
}
