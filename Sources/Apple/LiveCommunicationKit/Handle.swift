/// By what a person is reached.
public struct Handle: Codable, Hashable, Sendable {
  /// What a value is.
  public enum Kind: Int, Codable, Hashable, Sendable {
    /// An identity of the app's own, for example a SIP address.
    case generic
    /// A telephone number.
    case phoneNumber
    /// An e-mail address.
    case emailAddress
  }

  /// What the value is.
  public var type: Kind
  /// The number, address or identity.
  public var value: String
  /// The name to show.
  public var displayName: String

  /// A handle; without a name the value is shown.
  public init(type: Kind, value: String, displayName: String? = nil) {
    self.type = type
    self.value = value
    self.displayName = displayName ?? value
  }
}
