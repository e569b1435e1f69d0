/// The domain of `CXError`.
public let CXErrorDomain = "com.apple.CallKit.error"

/// Why the call system refuses something.
public struct CXError: CXCodedError {
  /// The reason, numbered as Apple numbers it.
  public enum Code: Int, CXErrorCode {
    /// The error that has such codes.
    public typealias ErrorType = CXError
    /// None of the others.
    case unknownError = 0
    /// The app may not use calls.
    case unentitled = 1
    /// An argument makes no sense.
    case invalidArgument = 2
    /// The app lacks the background mode for calls.
    case missingVoIPBackgroundMode = 3
  }

  /// The reason.
  public let code: Code

  /// An error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomain`.
  public static var errorDomain: String { CXErrorDomain }

  /// None of the others.
  public static var unknownError: Code { .unknownError }
  /// The app may not use calls.
  public static var unentitled: Code { .unentitled }
  /// An argument makes no sense.
  public static var invalidArgument: Code { .invalidArgument }
  /// The app lacks the background mode for calls.
  public static var missingVoIPBackgroundMode: Code { .missingVoIPBackgroundMode }
}
