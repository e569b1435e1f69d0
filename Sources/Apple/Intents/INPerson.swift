public import Foundation

/// A person to call.
open class INPerson: NSObject {
  private let handle: INPersonHandle?
  private let components: PersonNameComponents?
  private let name: String
  private let picture: INImage?
  private let contact: String?
  private let custom: String?
  private let isUser: Bool
  private let suggestion: INPersonSuggestionType

  /// Creates a person with a handle, and with names as far as they are known.
  public init(
    personHandle: INPersonHandle,
    nameComponents: PersonNameComponents?,
    displayName: String?,
    image: INImage?,
    contactIdentifier: String?,
    customIdentifier: String?,
    isMe: Bool = false,
    suggestionType: INPersonSuggestionType = .none
  ) {
    isUser = isMe
    suggestion = suggestionType
    handle = personHandle
    components = nameComponents
    name = displayName ?? personHandle.value ?? ""
    picture = image
    contact = contactIdentifier
    custom = customIdentifier
    super.init()
  }

  /// Address of the person.
  open var personHandle: INPersonHandle? { handle }
  /// Name in parts.
  open var nameComponents: PersonNameComponents? { components }
  /// Name to show: the given one, else the handle's value.
  open var displayName: String { name }
  /// Picture of the person.
  open var image: INImage? { picture }
  /// Identifier of the contact card.
  open var contactIdentifier: String? { contact }
  /// Identifier that the app gave to the person.
  open var customIdentifier: String? { custom }
  /// True for the user.
  open var isMe: Bool { isUser }
  /// Kind of address under which the person is suggested.
  open var suggestionType: INPersonSuggestionType { suggestion }
}

/// Kind of address under which a person is suggested.
public enum INPersonSuggestionType: Int, Sendable {
  /// None.
  case none = 0
  /// A profile of a social network.
  case socialProfile = 1
  /// An address for instant messages.
  case instantMessageAddress = 2
}

/// Address of a person, such as a telephone number.
open class INPersonHandle: NSObject {
  private let address: String?
  private let kind: INPersonHandleType
  private let place: INPersonHandleLabel?

  /// Creates an address of the given kind.
  public convenience init(value: String?, type: INPersonHandleType) {
    self.init(value: value, type: type, label: nil)
  }

  /// Creates an address of the given kind and place.
  public init(value: String?, type: INPersonHandleType, label: INPersonHandleLabel?) {
    (address, kind, place) = (value, type, label)
    super.init()
  }

  /// Place of the address, such as the person's home.
  open var label: INPersonHandleLabel? { place }

  /// The address.
  open var value: String? { address }
  /// Kind of the address.
  open var type: INPersonHandleType { kind }
}

/// Place of a person's address.
public struct INPersonHandleLabel: RawRepresentable, Hashable, Sendable {
  /// Name of the place.
  public let rawValue: String

  /// Creates a place from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The person's home.
  public static let home = INPersonHandleLabel(rawValue: "_$!<Home>!$_")
  /// The person's work.
  public static let work = INPersonHandleLabel(rawValue: "_$!<Work>!$_")
  /// A mobile telephone.
  public static let mobile = INPersonHandleLabel(rawValue: "_$!<Mobile>!$_")
  /// The main number.
  public static let main = INPersonHandleLabel(rawValue: "_$!<Main>!$_")
  /// Another place.
  public static let other = INPersonHandleLabel(rawValue: "_$!<Other>!$_")
}

/// Kind of a person's address.
public enum INPersonHandleType: Int, Sendable {
  /// An address in a form of the app's own.
  case unknown = 0
  /// A mail address.
  case emailAddress = 1
  /// A telephone number.
  case phoneNumber = 2
}

/// A picture of a person; nothing here draws it.
open class INImage: NSObject {
  /// A picture of the app's, by name.
  public convenience init(named name: String) { self.init() }
  /// A picture in a file's format.
  public convenience init(imageData: Data) { self.init() }
  /// A picture in a file.
  public convenience init?(url URL: URL) { self.init() }
}
