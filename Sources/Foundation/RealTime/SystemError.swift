import CLinux

/// An error of a system call.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Name of the call, for example "bind".
  public let operation: String

  /// `errno` of the call.
  public let code: CInt

  /// Creates an error of the given call.
  public init(operation: String, code: CInt) {
    self.operation = operation
    self.code = code
  }

  /// Name of the call, and the system's text for the code.
  public var description: String {
    let text = unsafe strerror(code)
    return "\(operation): \(unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)")"
  }
}
