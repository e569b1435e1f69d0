import CallState

/// The domain of `CXErrorCodeRequestTransactionError`.
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"

/// Why a transaction was refused.
public struct CXErrorCodeRequestTransactionError: CXCodedError {
  /// The reason, numbered as Apple numbers it.
  public enum Code: Int, CXErrorCode {
    /// The error that has such codes.
    public typealias ErrorType = CXErrorCodeRequestTransactionError
    /// None of the others.
    case unknown = 0
    /// The app may not use calls.
    case unentitled = 1
    /// There is no valid provider.
    case unknownCallProvider = 2
    /// It has no actions.
    case emptyTransaction = 3
    /// An action names a call that does not live.
    case unknownCallUUID = 4
    /// A start names a call that lives.
    case callUUIDAlreadyExists = 5
    /// The call is not one for the action.
    case invalidAction = 6
    /// A start would exceed the number of call groups.
    case maximumCallGroupsReached = 7
    /// The call is protected; never raised here.
    case callIsProtected = 8
  }

  /// The reason.
  public let code: Code

  /// An error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomainRequestTransaction`.
  public static var errorDomain: String { CXErrorDomainRequestTransaction }

  /// None of the others.
  public static var unknown: Code { .unknown }
  /// The app may not use calls.
  public static var unentitled: Code { .unentitled }
  /// There is no valid provider.
  public static var unknownCallProvider: Code { .unknownCallProvider }
  /// It has no actions.
  public static var emptyTransaction: Code { .emptyTransaction }
  /// An action names a call that does not live.
  public static var unknownCallUUID: Code { .unknownCallUUID }
  /// A start names a call that lives.
  public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
  /// The call is not one for the action.
  public static var invalidAction: Code { .invalidAction }
  /// A start would exceed the number of call groups.
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
