public import Foundation

/// What CallKit's five error types have in common: a domain, a numbered code, no further
/// information.
///
/// An `NSError` of the same domain does not cast to one of them on Linux; a switch over
/// `(error as NSError).code` works as on Apple's systems.
public protocol CXCodedError: CustomNSError, Hashable, Sendable {
  /// The reasons.
  associatedtype Code: CXErrorCode where Code.ErrorType == Self
  /// The reason.
  var code: Code { get }
}

/// The reasons of one of CallKit's errors; a reason can be caught as a pattern.
public protocol CXErrorCode: RawRepresentable<Int>, Hashable, Sendable {
  /// The error that has such codes.
  associatedtype ErrorType: CXCodedError where ErrorType.Code == Self
}

extension CXCodedError {
  /// The code's number.
  public var errorCode: Int { code.rawValue }
  /// Empty.
  public var errorUserInfo: [String: Any] { [:] }
}

/// Matches an error of this reason, as in `catch CXErrorCodeIncomingCallError.filteredByBlockList`.
public func ~= <Code: CXErrorCode>(code: Code, error: any Error) -> Bool {
  (error as? Code.ErrorType)?.code == code
}
