import CLinux

/// A system call that failed.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The call, for example "bind".
  public let operation: String

  /// Its `errno`.
  public let code: CInt

  /// An error of the given call.
  public init(operation: String, code: CInt) {
    self.operation = operation
    self.code = code
  }

  /// The operation and the system's words for the code.
  public var description: String {
    let text = unsafe strerror(code)
    return "\(operation): \(unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)")"
  }
}
