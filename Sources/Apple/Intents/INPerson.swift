public import Foundation

/// A person to call.
open class INPerson: NSObject {
  private let handle: INPersonHandle?
  private let components: PersonNameComponents?
  private let name: String
  private let picture: INImage?
  private let contact: String?
  private let custom: String?

  /// A person with a handle, and names as far as they are known.
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

  /// How to reach them.
  open var personHandle: INPersonHandle? { handle }
  /// Their name in parts.
  open var nameComponents: PersonNameComponents? { components }
  /// Their name as people write it.
  open var displayName: String { name }
  /// Their picture.
  open var image: INImage? { picture }
  /// Their contact card.
  open var contactIdentifier: String? { contact }
  /// The app's own name for them.
  open var customIdentifier: String? { custom }
}

/// How to reach a person.
open class INPersonHandle: NSObject {
  private let address: String?
  private let kind: INPersonHandleType

  /// An address of the given kind.
  public init(value: String?, type: INPersonHandleType) {
    address = value
    kind = type
    super.init()
  }

  /// The address.
  open var value: String? { address }
  /// What kind of address it is.
  open var type: INPersonHandleType { kind }
}

/// What kind of address a handle is.
public enum INPersonHandleType: Int, Sendable {
  /// Something of the app's own.
  case unknown = 0
  /// A mail address.
  case emailAddress = 1
  /// A telephone number.
  case phoneNumber = 2
}

/// A picture of a person; nothing here draws it.
open class INImage: NSObject {}
