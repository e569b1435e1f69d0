/// Domain of `CXErrorCodeNotificationServiceExtensionError`.
public let CXErrorDomainNotificationServiceExtension =
  "com.apple.CallKit.error.notificationserviceextension"

/// The error of a push that could not be reported as a call.
public struct CXErrorCodeNotificationServiceExtensionError: CXCodedError {
  /// Reason of the error, with Apple's number.
  public enum Code: Int, CXErrorCode {
    /// The error type that has these codes.
    public typealias ErrorType = CXErrorCodeNotificationServiceExtensionError
    /// An unknown error.
    case unknown = 0
    /// The process is no notification service.
    case invalidClientProcess = 1
    /// The process may not filter notifications.
    case missingNotificationFilteringEntitlement = 2
  }

  /// Reason of the error.
  public let code: Code

  /// Creates an error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomainNotificationServiceExtension`.
  public static var errorDomain: String { CXErrorDomainNotificationServiceExtension }

  /// An unknown error.
  public static var unknown: Code { .unknown }
  /// The process is no notification service.
  public static var invalidClientProcess: Code { .invalidClientProcess }
  /// The process may not filter notifications.
  public static var missingNotificationFilteringEntitlement: Code {
    .missingNotificationFilteringEntitlement
  }
}
