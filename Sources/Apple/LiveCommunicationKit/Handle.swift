/// Address of a person, such as a telephone number.
public struct Handle: Codable, Hashable, Sendable {
  /// Kind of a handle's value.
  public enum Kind: Int, Codable, Hashable, Sendable {
    /// An identity of the app's own, for example a SIP address.
    case generic
    /// A telephone number.
    case phoneNumber
    /// An e-mail address.
    case emailAddress
  }

  /// Kind of the value.
  public var type: Kind
  /// The number, address or identity.
  public var value: String
  /// Name to show.
  public var displayName: String

  /// Creates a handle; without a name the value is shown.
  public init(type: Kind, value: String, displayName: String? = nil) {
    self.type = type
    self.value = value
    self.displayName = displayName ?? value
  }
}
