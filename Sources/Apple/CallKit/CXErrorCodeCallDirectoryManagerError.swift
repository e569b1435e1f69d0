/// The domain of `CXErrorCodeCallDirectoryManagerError`.
public let CXErrorDomainCallDirectoryManager = "com.apple.CallKit.error.calldirectorymanager"

/// Why a call directory extension could not be loaded.
public struct CXErrorCodeCallDirectoryManagerError: CXCodedError {
  /// The reason, numbered as Apple numbers it.
  public enum Code: Int, CXErrorCode {
    /// The error that has such codes.
    public typealias ErrorType = CXErrorCodeCallDirectoryManagerError
    /// None of the others.
    case unknown = 0
    /// There is no extension of that name.
    case noExtensionFound = 1
    /// The extension ended before it had completed its request.
    case loadingInterrupted = 2
    /// Numbers did not ascend.
    case entriesOutOfOrder = 3
    /// A number came twice.
    case duplicateEntries = 4
    /// There were too many entries.
    case maximumEntriesExceeded = 5
    /// The user has not enabled the extension.
    case extensionDisabled = 6
    /// The extension is being loaded.
    case currentlyLoading = 7
    /// An entry was removed in a load that replaces everything.
    case unexpectedIncrementalRemoval = 8
  }

  /// The reason.
  public let code: Code

  /// An error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomainCallDirectoryManager`.
  public static var errorDomain: String { CXErrorDomainCallDirectoryManager }

  /// None of the others.
  public static var unknown: Code { .unknown }
  /// There is no extension of that name.
  public static var noExtensionFound: Code { .noExtensionFound }
  /// The extension ended before it had completed its request.
  public static var loadingInterrupted: Code { .loadingInterrupted }
  /// Numbers did not ascend.
  public static var entriesOutOfOrder: Code { .entriesOutOfOrder }
  /// A number came twice.
  public static var duplicateEntries: Code { .duplicateEntries }
  /// There were too many entries.
  public static var maximumEntriesExceeded: Code { .maximumEntriesExceeded }
  /// The user has not enabled the extension.
  public static var extensionDisabled: Code { .extensionDisabled }
  /// The extension is being loaded.
  public static var currentlyLoading: Code { .currentlyLoading }
  /// An entry was removed in a load that replaces everything.
  public static var unexpectedIncrementalRemoval: Code { .unexpectedIncrementalRemoval }
}
