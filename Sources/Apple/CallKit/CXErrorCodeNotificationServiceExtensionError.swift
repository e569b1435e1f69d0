/// The domain of `CXErrorCodeNotificationServiceExtensionError`.
public let CXErrorDomainNotificationServiceExtension =
  "com.apple.CallKit.error.notificationserviceextension"

/// Why a push could not be reported as a call.
public struct CXErrorCodeNotificationServiceExtensionError: CXCodedError {
  /// The reason, numbered as Apple numbers it.
  public enum Code: Int, CXErrorCode {
    /// The error that has such codes.
    public typealias ErrorType = CXErrorCodeNotificationServiceExtensionError
    /// None of the others.
    case unknown = 0
    /// The process is no notification service.
    case invalidClientProcess = 1
    /// The process may not filter notifications.
    case missingNotificationFilteringEntitlement = 2
  }

  /// The reason.
  public let code: Code

  /// An error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomainNotificationServiceExtension`.
  public static var errorDomain: String { CXErrorDomainNotificationServiceExtension }

  /// None of the others.
  public static var unknown: Code { .unknown }
  /// The process is no notification service.
  public static var invalidClientProcess: Code { .invalidClientProcess }
  /// The process may not filter notifications.
  public static var missingNotificationFilteringEntitlement: Code {
    .missingNotificationFilteringEntitlement
  }
}
