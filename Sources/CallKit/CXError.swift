import CallState
public import Foundation

/// The domain of `CXErrorCodeIncomingCallError`.
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"
/// The domain of `CXErrorCodeRequestTransactionError`.
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"

/// Why an incoming call was not shown.
public struct CXErrorCodeIncomingCallError: CustomNSError, Hashable, Sendable {
  /// The reason.
  public enum Code: Int, Sendable {
    /// None of the others.
    case unknown = 0
    /// The app may not use calls.
    case unentitled = 1
    /// A call with this UUID lives.
    case callUUIDAlreadyExists = 2
    /// The user does not want to be disturbed.
    case filteredByDoNotDisturb = 3
    /// The user blocked the caller.
    case filteredByBlockList = 4
  }

  /// The reason.
  public let code: Code

  /// An error of the given reason.
  public init(_ code: Code) {
    self.code = code
  }

  /// `CXErrorDomainIncomingCall`.
  public static var errorDomain: String { CXErrorDomainIncomingCall }
  /// The code's number.
  public var errorCode: Int { code.rawValue }

  /// A call with this UUID lives.
  public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
  /// None of the others.
  public static var unknown: Code { .unknown }

  init(refusal: IncomingRefusal) {
    switch refusal {
    case .unknownCallProvider: self.init(.unknown)
    case .callUUIDAlreadyExists: self.init(.callUUIDAlreadyExists)
    }
  }
}

/// Why a transaction was refused.
public struct CXErrorCodeRequestTransactionError: CustomNSError, Hashable, Sendable {
  /// The reason.
  public enum Code: Int, Sendable {
    /// None of the others.
    case unknown = 0
    /// The app may not use calls.
    case unentitled = 1
    /// There is no valid provider.
    case unknownCallProvider = 2
    /// There are no actions.
    case emptyTransaction = 3
    /// The call does not live.
    case unknownCallUUID = 4
    /// The call lives already.
    case callUUIDAlreadyExists = 5
    /// The call does not take such an action.
    case invalidAction = 6
    /// There are too many calls.
    case maximumCallGroupsReached = 7
    /// The call is protected.
    case callIsProtected = 8
  }

  /// The reason.
  public let code: Code

  /// An error of the given reason.
  public init(_ code: Code) {
    self.code = code
  }

  /// `CXErrorDomainRequestTransaction`.
  public static var errorDomain: String { CXErrorDomainRequestTransaction }
  /// The code's number.
  public var errorCode: Int { code.rawValue }

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
