/// Domain of `CXErrorCodeCallDirectoryManagerError`.
public let CXErrorDomainCallDirectoryManager = "com.apple.CallKit.error.calldirectorymanager"

/// The error of a call directory extension that could not be loaded.
public struct CXErrorCodeCallDirectoryManagerError: CXCodedError {
  /// Reason of the error, with Apple's number.
  public enum Code: Int, CXErrorCode {
    /// The error type that has these codes.
    public typealias ErrorType = CXErrorCodeCallDirectoryManagerError
    /// An unknown error.
    case unknown = 0
    /// There is no extension of that name.
    case noExtensionFound = 1
    /// The extension ended before it had completed its request.
    case loadingInterrupted = 2
    /// The numbers are not in ascending order.
    case entriesOutOfOrder = 3
    /// A number occurs twice.
    case duplicateEntries = 4
    /// There are too many entries.
    case maximumEntriesExceeded = 5
    /// The user has not enabled the extension.
    case extensionDisabled = 6
    /// The extension is already being loaded.
    case currentlyLoading = 7
    /// An entry was removed in a load that replaces everything.
    case unexpectedIncrementalRemoval = 8
  }

  /// Reason of the error.
  public let code: Code

  /// Creates an error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomainCallDirectoryManager`.
  public static var errorDomain: String { CXErrorDomainCallDirectoryManager }

  /// An unknown error.
  public static var unknown: Code { .unknown }
  /// There is no extension of that name.
  public static var noExtensionFound: Code { .noExtensionFound }
  /// The extension ended before it had completed its request.
  public static var loadingInterrupted: Code { .loadingInterrupted }
  /// The numbers are not in ascending order.
  public static var entriesOutOfOrder: Code { .entriesOutOfOrder }
  /// A number occurs twice.
  public static var duplicateEntries: Code { .duplicateEntries }
  /// There are too many entries.
  public static var maximumEntriesExceeded: Code { .maximumEntriesExceeded }
  /// The user has not enabled the extension.
  public static var extensionDisabled: Code { .extensionDisabled }
  /// The extension is already being loaded.
  public static var currentlyLoading: Code { .currentlyLoading }
  /// An entry was removed in a load that replaces everything.
  public static var unexpectedIncrementalRemoval: Code { .unexpectedIncrementalRemoval }
}
