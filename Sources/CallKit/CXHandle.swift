public import Foundation

/// An address to call: a number, a mail address or something of the app's own.
open class CXHandle: NSObject, NSCopying {
  /// What kind of address it is.
  public enum HandleType: Int, Sendable {
    /// Something of the app's own, for example a SIP address.
    case generic = 1
    /// A telephone number.
    case phoneNumber = 2
    /// A mail address.
    case emailAddress = 3
  }

  /// What kind of address it is.
  public let type: HandleType
  /// The address, verbatim.
  public let value: String

  /// An address of the given kind.
  public init(type: HandleType, value: String) {
    self.type = type
    self.value = value
    super.init()
  }

  /// A handle of the same kind and value.
  open func copy(with zone: NSZone? = nil) -> Any {
    CXHandle(type: type, value: value)
  }

  /// True if kind and value are the same.
  open func isEqual(to handle: CXHandle) -> Bool {
    type == handle.type && value == handle.value
  }

  /// True if the object is a handle of the same kind and value.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CXHandle).map { isEqual(to: $0) } ?? false
  }

  /// Agrees with `isEqual`.
  open override var hash: Int { value.hashValue ^ type.rawValue }
}
