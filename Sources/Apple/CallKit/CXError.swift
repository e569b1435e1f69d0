/// Domain of `CXError`.
public let CXErrorDomain = "com.apple.CallKit.error"

/// An error of the call system in general.
public struct CXError: CXCodedError {
  /// Reason of the error, with Apple's number.
  public enum Code: Int, CXErrorCode {
    /// The error type that has these codes.
    public typealias ErrorType = CXError
    /// An unknown error.
    case unknownError = 0
    /// The app may not use calls.
    case unentitled = 1
    /// An argument is invalid.
    case invalidArgument = 2
    /// The app lacks the background mode for calls.
    case missingVoIPBackgroundMode = 3
  }

  /// Reason of the error.
  public let code: Code

  /// Creates an error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomain`.
  public static var errorDomain: String { CXErrorDomain }

  /// An unknown error.
  public static var unknownError: Code { .unknownError }
  /// The app may not use calls.
  public static var unentitled: Code { .unentitled }
  /// An argument is invalid.
  public static var invalidArgument: Code { .invalidArgument }
  /// The app lacks the background mode for calls.
  public static var missingVoIPBackgroundMode: Code { .missingVoIPBackgroundMode }
}
