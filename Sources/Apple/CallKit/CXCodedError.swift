public import Foundation

/// An error with a domain and a numbered code, and without further information.
///
/// CallKit's five error types conform to it.
///
/// An `NSError` of the same domain does not cast to one of them on Linux; a switch over
/// `(error as NSError).code` works as on Apple's systems.
public protocol CXCodedError: CustomNSError, Hashable, Sendable {
  /// The codes of the error.
  associatedtype Code: CXErrorCode where Code.ErrorType == Self
  /// Reason of the error.
  var code: Code { get }
}

/// A reason of one of CallKit's errors, which can be caught as a pattern.
public protocol CXErrorCode: RawRepresentable<Int>, Hashable, Sendable {
  /// The error type that has these codes.
  associatedtype ErrorType: CXCodedError where ErrorType.Code == Self
}

extension CXCodedError {
  /// The code's number.
  public var errorCode: Int { code.rawValue }
  /// Empty.
  public var errorUserInfo: [String: Any] { [:] }
  /// Empty.
  public var userInfo: [String: Any] { [:] }
}

/// Matches an error of this reason, as in `catch CXErrorCodeIncomingCallError.filteredByBlockList`.
public func ~= <Code: CXErrorCode>(code: Code, error: any Error) -> Bool {
  (error as? Code.ErrorType)?.code == code
}
