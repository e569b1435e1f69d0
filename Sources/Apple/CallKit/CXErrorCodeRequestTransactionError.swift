import CallState

/// Domain of `CXErrorCodeRequestTransactionError`.
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"

/// The error of a refused transaction.
public struct CXErrorCodeRequestTransactionError: CXCodedError {
  /// Reason of the error, with Apple's number.
  public enum Code: Int, CXErrorCode {
    /// The error type that has these codes.
    public typealias ErrorType = CXErrorCodeRequestTransactionError
    /// An unknown error.
    case unknown = 0
    /// The app may not use calls.
    case unentitled = 1
    /// There is no valid provider.
    case unknownCallProvider = 2
    /// The transaction has no actions.
    case emptyTransaction = 3
    /// There is no call with the UUID that an action names.
    case unknownCallUUID = 4
    /// A call with the UUID that a start action names exists already.
    case callUUIDAlreadyExists = 5
    /// The action does not suit the state of its call.
    case invalidAction = 6
    /// A start action would exceed the maximum number of call groups.
    case maximumCallGroupsReached = 7
    /// The call is protected; never raised here.
    case callIsProtected = 8
  }

  /// Reason of the error.
  public let code: Code

  /// Creates an error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomainRequestTransaction`.
  public static var errorDomain: String { CXErrorDomainRequestTransaction }

  /// An unknown error.
  public static var unknown: Code { .unknown }
  /// The app may not use calls.
  public static var unentitled: Code { .unentitled }
  /// There is no valid provider.
  public static var unknownCallProvider: Code { .unknownCallProvider }
  /// The transaction has no actions.
  public static var emptyTransaction: Code { .emptyTransaction }
  /// There is no call with the UUID that an action names.
  public static var unknownCallUUID: Code { .unknownCallUUID }
  /// A call with the UUID that a start action names exists already.
  public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
  /// The action does not suit the state of its call.
  public static var invalidAction: Code { .invalidAction }
  /// A start action would exceed the maximum number of call groups.
  public static var maximumCallGroupsReached: Code { .maximumCallGroupsReached }
  /// The call is protected; never raised here.
  public static var callIsProtected: Code { .callIsProtected }
}

extension CXErrorCodeRequestTransactionError {
  init(refusal: TransactionRefusal) {
    switch refusal {
    case .emptyTransaction: self.init(.emptyTransaction)
    case .unknownCallProvider: self.init(.unknownCallProvider)
    case .callUUIDAlreadyExists: self.init(.callUUIDAlreadyExists)
    case .unknownCallUUID: self.init(.unknownCallUUID)
    case .invalidAction: self.init(.invalidAction)
    case .maximumCallGroupsReached: self.init(.maximumCallGroupsReached)
    }
  }
}
