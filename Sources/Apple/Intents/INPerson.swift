public import Foundation

/// A person to call.
open class INPerson: NSObject {
  private let handle: INPersonHandle?
  private let components: PersonNameComponents?
  private let name: String
  private let picture: INImage?
  private let contact: String?
  private let custom: String?

  /// Creates a person with a handle, and with names as far as they are known.
  public init(
    personHandle: INPersonHandle,
    nameComponents: PersonNameComponents?,
    displayName: String?,
    image: INImage?,
    contactIdentifier: String?,
    customIdentifier: String?
  ) {
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
}

/// Address of a person, such as a telephone number.
open class INPersonHandle: NSObject {
  private let address: String?
  private let kind: INPersonHandleType

  /// Creates an address of the given kind.
  public init(value: String?, type: INPersonHandleType) {
    address = value
    kind = type
    super.init()
  }

  /// The address.
  open var value: String? { address }
  /// Kind of the address.
  open var type: INPersonHandleType { kind }
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
open class INImage: NSObject {}
