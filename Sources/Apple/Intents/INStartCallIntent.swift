/// The type of an activity that asks for a call: `INStartCallIntent`.
public let INStartCallIntentIdentifier = "INStartCallIntent"
/// The type of an activity that asks for a voice call, by its old name: `INStartAudioCallIntent`.
public let INStartAudioCallIntentIdentifier = "INStartAudioCallIntent"
/// The type of an activity that asks for a video call, by its old name: `INStartVideoCallIntent`.
public let INStartVideoCallIntentIdentifier = "INStartVideoCallIntent"

/// Call a person.
open class INStartCallIntent: INIntent {
  private let people: [INPerson]?
  private let capability: INCallCapability
  private let route: INCallAudioRoute
  private let destination: INCallDestinationType

  /// A call to the given people.
  public init(
    audioRoute: INCallAudioRoute = .unknown,
    destinationType: INCallDestinationType = .normal,
    contacts: [INPerson]?,
    callCapability: INCallCapability
  ) {
    people = contacts
    capability = callCapability
    route = audioRoute
    destination = destinationType
    super.init()
  }

  /// Whom to call.
  open var contacts: [INPerson]? { people }
  /// With or without pictures.
  open var callCapability: INCallCapability { capability }
  /// Through which loudspeaker.
  open var audioRoute: INCallAudioRoute { route }
  /// What kind of number it is.
  open var destinationType: INCallDestinationType { destination }
}

/// Call a person with voice: the old name.
open class INStartAudioCallIntent: INIntent {
  private let people: [INPerson]?

  /// A call to the given people.
  public init(contacts: [INPerson]?) {
    people = contacts
    super.init()
  }

  /// Whom to call.
  open var contacts: [INPerson]? { people }
}

/// Call a person with video: the old name.
open class INStartVideoCallIntent: INIntent {
  private let people: [INPerson]?

  /// A call to the given people.
  public init(contacts: [INPerson]?) {
    people = contacts
    super.init()
  }

  /// Whom to call.
  open var contacts: [INPerson]? { people }
}

/// With or without pictures.
public enum INCallCapability: Int, Sendable {
  /// Not specified.
  case unknown = 0
  /// Voice.
  case audioCall = 1
  /// Voice and pictures.
  case videoCall = 2
}

/// Through which loudspeaker.
public enum INCallAudioRoute: Int, Sendable {
  /// Not specified.
  case unknown = 0
  /// The loudspeaker.
  case speakerphoneAudioRoute = 1
  /// A Bluetooth headset.
  case bluetoothAudioRoute = 2
}

/// What kind of number a call goes to.
public enum INCallDestinationType: Int, Sendable {
  /// Not specified.
  case unknown = 0
  /// An ordinary one.
  case normal = 1
  /// An emergency number.
  case emergency = 2
  /// The voice mailbox.
  case voicemail = 3
  /// The last number.
  case redial = 4
  /// The last caller.
  case callBack = 5
}
