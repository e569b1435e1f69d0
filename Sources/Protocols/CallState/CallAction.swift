package import MediaCore

/// What a start action asks for.
package struct StartRequest: Equatable, Sendable {
  /// Whom to call.
  package let handle: CallHandle
  /// The contact card behind the handle; some apps put a name there (R61).
  package let contactIdentifier: String?
  /// True for a call with pictures.
  package let isVideo: Bool

  /// A call to `handle`.
  package init(handle: CallHandle, contactIdentifier: String? = nil, isVideo: Bool = false) {
    self.handle = handle
    self.contactIdentifier = contactIdentifier
    self.isVideo = isVideo
  }
}

/// Why tones are sent; numbers as Apple gives them (R85).
package enum DTMFKind: Int, Equatable, Sendable {
  /// The user pressed a key.
  case singleTone = 1
  /// Digits behind a comma.
  case softPause = 2
  /// Digits behind a semicolon.
  case hardPause = 3
}

/// What an action asks for.
package enum ActionKind: Equatable, Sendable {
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
  package var timeout: Duration {
    switch self {
    case .start: .seconds(600)
    case .answer: .seconds(60)
    default: .seconds(5)
    }
  }

  /// True if its fulfilment makes a call active that was not.
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
package enum ActionOrigin: Equatable, Sendable {
  /// The app, by a transaction of its own.
  case app
  /// The user, on the system's call screen.
  case user
  /// The system, following its rules.
  case system
}

/// How an action ended.
package enum ActionOutcome: Equatable, Sendable {
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
package struct CallAction: Equatable, Sendable {
  /// Its name.
  package let id: ActionID
  /// The call it is about.
  package let call: CallID
  /// Whose call that is.
  package let provider: ProviderID
  /// What it asks for.
  package let kind: ActionKind
  /// Who wanted it.
  package let origin: ActionOrigin
  /// When it times out.
  package let deadline: MonotonicInstant
}

/// An action that is wished for and not yet accepted.
package struct ActionRequest: Equatable, Sendable {
  /// The call it is about, nil if it names none.
  package let call: CallID?
  /// What it asks for.
  package let kind: ActionKind

  /// A wish for `kind` on `call`.
  package init(call: CallID?, kind: ActionKind) {
    self.call = call
    self.kind = kind
  }
}

/// Why a transaction is refused, in the order in which the checks are made (R21).
package enum TransactionRefusal: Error, Equatable, Sendable {
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
package enum IncomingRefusal: Error, Equatable, Sendable {
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
package struct CallerScreening: Equatable, Sendable {
  /// On the block list.
  package var isBlocked: Bool
  /// Do not disturb is on, and the caller has no exemption.
  package var isSilenced: Bool
  /// The call directory's label.
  package var label: String?

  /// What the lists say; by default nothing.
  package init(isBlocked: Bool = false, isSilenced: Bool = false, label: String? = nil) {
    self.isBlocked = isBlocked
    self.isSilenced = isSilenced
    self.label = label
  }
}

/// What a provider's configuration says of limits and lists.
package struct ProviderSettings: Equatable, Sendable {
  /// The app's name on the call screen.
  package var name: String
  /// How many groups of calls there may be before a start is refused.
  package var maximumCallGroups: Int
  /// How many calls a group may have.
  package var maximumCallsPerCallGroup: Int
  /// Whether ended calls are recorded.
  package var includesCallsInRecents: Bool
  /// The kinds of address that the app can dial from the list of recent calls.
  package var supportedHandleKinds: Set<CallHandle.Kind>
  /// The file of the ringtone, nil for the system's.
  package var ringtoneSound: String?
  /// The app's icon for the call screen, the bytes of a PNG file.
  package var icon: [UInt8]?
  /// How long an incoming call rings before it ends by itself (R47).
  package var ringDuration = Duration.seconds(60)

  /// Apple's defaults.
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
