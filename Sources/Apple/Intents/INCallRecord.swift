public import Foundation

/// A former call.
open class INCallRecord: NSObject {
  private let name: String
  private let created: Date?
  private let kind: INCallRecordType
  private let capability: INCallCapability
  private let duration: Double?
  private let isNew: Bool?
  private let people: [INPerson]?
  private let isBlocked: Bool?

  /// Creates a record of a call; the duration is in seconds.
  public init(
    identifier: String,
    dateCreated: Date?,
    callRecordType: INCallRecordType,
    callCapability: INCallCapability,
    callDuration: Double?,
    unseen: Bool?,
    participants: [INPerson]? = nil,
    isCallerIdBlocked: Bool? = nil
  ) {
    (name, created, kind, capability) = (identifier, dateCreated, callRecordType, callCapability)
    (duration, isNew, people, isBlocked) = (callDuration, unseen, participants, isCallerIdBlocked)
    super.init()
  }

  /// Identifier that the app gave to the record.
  open var identifier: String { name }
  /// Time of the call.
  open var dateCreated: Date? { created }
  /// Kind of the call.
  open var callRecordType: INCallRecordType { kind }
  /// Voice or video.
  open var callCapability: INCallCapability { capability }
  /// Duration in seconds.
  open var callDuration: Double? { duration }
  /// True if the user has not seen the record.
  open var unseen: Bool? { isNew }
  /// Other people in the call.
  open var participants: [INPerson]? { people }
  /// True if the caller's number was withheld.
  open var isCallerIdBlocked: Bool? { isBlocked }
}

/// Criteria for former calls, one of which the user means.
open class INCallRecordFilter: NSObject {
  private let people: [INPerson]?
  private let kinds: INCallRecordTypeOptions
  private let capability: INCallCapability

  /// Creates a filter for calls with these people, of these kinds and media.
  public init(
    participants: [INPerson]?,
    callTypes: INCallRecordTypeOptions,
    callCapability: INCallCapability
  ) {
    (people, kinds, capability) = (participants, callTypes, callCapability)
    super.init()
  }

  /// Other people in the calls.
  open var participants: [INPerson]? { people }
  /// Kinds of the calls.
  open var callTypes: INCallRecordTypeOptions { kinds }
  /// Voice or video.
  open var callCapability: INCallCapability { capability }
}

/// Kind of a former call.
public enum INCallRecordType: Int, Sendable {
  /// Unspecified.
  case unknown = 0
  /// Placed by this side.
  case outgoing = 1
  /// Not answered here.
  case missed = 2
  /// Answered here.
  case received = 3
  /// The last one.
  case latest = 4
  /// A message in the mailbox.
  case voicemail = 5
  /// Ringing now.
  case ringing = 6
  /// In progress.
  case inProgress = 7
  /// On hold.
  case onHold = 8
}

/// Set of call record types, for present and former calls.
public struct INCallRecordTypeOptions: OptionSet, Sendable {
  /// A bit for each kind.
  public let rawValue: UInt

  /// Creates a set of kinds from their bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Placed by this side.
  public static let outgoing = INCallRecordTypeOptions(rawValue: 1)
  /// Not answered here.
  public static let missed = INCallRecordTypeOptions(rawValue: 2)
  /// Answered here.
  public static let received = INCallRecordTypeOptions(rawValue: 4)
  /// The last one.
  public static let latest = INCallRecordTypeOptions(rawValue: 8)
  /// A message in the mailbox.
  public static let voicemail = INCallRecordTypeOptions(rawValue: 16)
  /// Ringing now.
  public static let ringing = INCallRecordTypeOptions(rawValue: 32)
  /// In progress.
  public static let inProgress = INCallRecordTypeOptions(rawValue: 64)
  /// On hold.
  public static let onHold = INCallRecordTypeOptions(rawValue: 128)
}
