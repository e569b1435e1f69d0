/// Activity type of a request for a call: `INStartCallIntent`.
public let INStartCallIntentIdentifier = "INStartCallIntent"
/// Activity type of a request for a voice call, by its old name: `INStartAudioCallIntent`.
public let INStartAudioCallIntentIdentifier = "INStartAudioCallIntent"
/// Activity type of a request for a video call, by its old name: `INStartVideoCallIntent`.
public let INStartVideoCallIntentIdentifier = "INStartVideoCallIntent"

/// A request to call people.
open class INStartCallIntent: INIntent {
  private let people: [INPerson]?
  private let capability: INCallCapability
  private let route: INCallAudioRoute
  private let destination: INCallDestinationType
  private let filter: INCallRecordFilter?
  private let former: INCallRecord?
  private let redialling: INCallRecordType

  /// Creates a request for a call to the given people, or to those of a former call.
  public init(
    callRecordFilter: INCallRecordFilter?,
    callRecordToCallBack: INCallRecord?,
    audioRoute: INCallAudioRoute,
    destinationType: INCallDestinationType,
    contacts: [INPerson]?,
    callCapability: INCallCapability
  ) {
    people = contacts
    capability = callCapability
    route = audioRoute
    destination = destinationType
    filter = callRecordFilter
    former = callRecordToCallBack
    redialling = .unknown
    super.init()
  }

  /// Creates a request for a call to the given people, or to redial the last call of a kind.
  public init(
    audioRoute: INCallAudioRoute,
    destinationType: INCallDestinationType,
    contacts: [INPerson]?,
    recordTypeForRedialing: INCallRecordType,
    callCapability: INCallCapability
  ) {
    people = contacts
    capability = callCapability
    route = audioRoute
    destination = destinationType
    filter = nil
    former = nil
    redialling = recordTypeForRedialing
    super.init()
  }

  /// Creates a request for a call to the given people.
  package convenience init(contacts: [INPerson]?, callCapability: INCallCapability) {
    self.init(
      audioRoute: .unknown,
      destinationType: .normal,
      contacts: contacts,
      recordTypeForRedialing: .unknown,
      callCapability: callCapability
    )
  }

  /// People to call.
  open var contacts: [INPerson]? { people }
  /// Voice or video.
  open var callCapability: INCallCapability { capability }
  /// Loudspeaker or headset to use.
  open var audioRoute: INCallAudioRoute { route }
  /// Kind of destination, such as an emergency number.
  open var destinationType: INCallDestinationType { destination }
  /// Criteria for former calls, one of which the user means.
  open var callRecordFilter: INCallRecordFilter? { filter }
  /// Former call to return.
  open var callRecordToCallBack: INCallRecord? { former }
  /// Kind of former call to redial.
  open var recordTypeForRedialing: INCallRecordType { redialling }
}

/// A request for a voice call: the old name.
open class INStartAudioCallIntent: INIntent {
  private let people: [INPerson]?

  private let destination: INCallDestinationType

  /// Creates a request for a voice call to the given people.
  public convenience init(contacts: [INPerson]?) {
    self.init(destinationType: .normal, contacts: contacts)
  }

  /// Creates a request for a voice call to a destination of the given kind.
  public init(destinationType: INCallDestinationType, contacts: [INPerson]?) {
    people = contacts
    destination = destinationType
    super.init()
  }

  /// People to call.
  open var contacts: [INPerson]? { people }
  /// Kind of destination, such as an emergency number.
  open var destinationType: INCallDestinationType { destination }
}

/// A request for a video call: the old name.
open class INStartVideoCallIntent: INIntent {
  private let people: [INPerson]?

  /// Creates a request for a video call to the given people.
  public init(contacts: [INPerson]?) {
    people = contacts
    super.init()
  }

  /// People to call.
  open var contacts: [INPerson]? { people }
}

/// Media of a call: voice, or voice and video.
public enum INCallCapability: Int, Sendable {
  /// Unspecified.
  case unknown = 0
  /// Voice only.
  case audioCall = 1
  /// Voice and video.
  case videoCall = 2
}

/// Output device of a call.
public enum INCallAudioRoute: Int, Sendable {
  /// Unspecified.
  case unknown = 0
  /// The loudspeaker.
  case speakerphoneAudioRoute = 1
  /// A Bluetooth headset.
  case bluetoothAudioRoute = 2
}

/// Kind of destination of a call.
public enum INCallDestinationType: Int, Sendable {
  /// Unspecified.
  case unknown = 0
  /// An ordinary number or address.
  case normal = 1
  /// An emergency number.
  case emergency = 2
  /// The voice mailbox.
  case voicemail = 3
  /// The number called last.
  case redial = 4
  /// The caller who called last.
  case callBack = 5
}
