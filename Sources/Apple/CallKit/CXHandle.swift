import CallState
public import Foundation

/// An address to call: a telephone number, an e-mail address or an address of the app's own.
open class CXHandle: NSObject, NSCopying, NSSecureCoding {
  /// Kind of an address.
  public enum HandleType: Int, Sendable {
    /// An address of the app's own, for example a SIP address.
    case generic = 1
    /// A telephone number.
    case phoneNumber = 2
    /// A mail address.
    case emailAddress = 3
  }

  private let kind: HandleType
  private let address: String

  /// Creates an address of the given kind.
  public init(type: HandleType, value: String) {
    kind = type
    address = value
    super.init()
  }

  /// Creates an address from an archive; nil if the archive holds none.
  public required init?(coder: NSCoder) {
    guard let kind = HandleType(rawValue: coder.decodeInteger(forKey: "type")),
      let address = coder.decodeText(forKey: "value")
    else { return nil }
    self.kind = kind
    self.address = address
    super.init()
  }

  /// Kind of the address.
  open var type: HandleType { kind }
  /// The address, verbatim.
  open var value: String { address }

  /// True: handles can be archived securely.
  open class var supportsSecureCoding: Bool { true }

  /// Archives kind and value.
  open func encode(with coder: NSCoder) {
    coder.encode(kind.rawValue, forKey: "type")
    coder.encode(address, forKey: "value")
  }

  /// Returns a handle of the same kind and value.
  open func copy(with zone: NSZone? = nil) -> Any {
    CXHandle(type: kind, value: address)
  }

  /// True if kind and value are the same.
  open func isEqual(to handle: CXHandle) -> Bool {
    type == handle.type && value == handle.value
  }

  /// True if the object is a handle of the same kind and value.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CXHandle).map { isEqual(to: $0) } ?? false
  }

  /// Hash of kind and value.
  open override var hash: Int { value.hashValue ^ type.rawValue }
}

extension CallHandle {
  init(_ handle: CXHandle) {
    self.init(kind: Kind(rawValue: handle.type.rawValue) ?? .generic, value: handle.value)
  }
}

extension CXHandle {
  convenience init(_ handle: CallHandle) {
    self.init(type: HandleType(rawValue: handle.kind.rawValue) ?? .generic, value: handle.value)
  }
}
