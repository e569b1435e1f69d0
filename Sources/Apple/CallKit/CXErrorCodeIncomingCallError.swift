import CallState

/// Domain of `CXErrorCodeIncomingCallError`.
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"

/// The error of an incoming call that was not shown.
public struct CXErrorCodeIncomingCallError: CXCodedError {
  /// Reason of the error, with Apple's number.
  public enum Code: Int, CXErrorCode {
    /// The error type that has these codes.
    public typealias ErrorType = CXErrorCodeIncomingCallError
    /// An unknown error, or the provider was invalidated.
    case unknown = 0
    /// The app may not use calls.
    case unentitled = 1
    /// There is a call with this UUID already.
    case callUUIDAlreadyExists = 2
    /// The user has turned Do Not Disturb on.
    case filteredByDoNotDisturb = 3
    /// The user blocked the caller.
    case filteredByBlockList = 4
    /// The screen is being shared.
    case filteredDuringRestrictedSharingMode = 5
    /// The call is protected.
    case callIsProtected = 6
    /// The call's participants are sensitive.
    case filteredBySensitiveParticipants = 7
  }

  /// Reason of the error.
  public let code: Code

  /// Creates an error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomainIncomingCall`.
  public static var errorDomain: String { CXErrorDomainIncomingCall }

  /// An unknown error, or the provider was invalidated.
  public static var unknown: Code { .unknown }
  /// The app may not use calls.
  public static var unentitled: Code { .unentitled }
  /// There is a call with this UUID already.
  public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
  /// The user has turned Do Not Disturb on.
  public static var filteredByDoNotDisturb: Code { .filteredByDoNotDisturb }
  /// The user blocked the caller.
  public static var filteredByBlockList: Code { .filteredByBlockList }
  /// The screen is being shared.
  public static var filteredDuringRestrictedSharingMode: Code {
    .filteredDuringRestrictedSharingMode
  }
  /// The call is protected.
  public static var callIsProtected: Code { .callIsProtected }
  /// The call's participants are sensitive.
  public static var filteredBySensitiveParticipants: Code { .filteredBySensitiveParticipants }
}

extension CXErrorCodeIncomingCallError {
  init(refusal: IncomingRefusal) {
    switch refusal {
    case .unknownCallProvider: self.init(.unknown)
    case .callUUIDAlreadyExists: self.init(.callUUIDAlreadyExists)
    case .filteredByBlockList: self.init(.filteredByBlockList)
    case .filteredByDoNotDisturb: self.init(.filteredByDoNotDisturb)
    }
  }
}
