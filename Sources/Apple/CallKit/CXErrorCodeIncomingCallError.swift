import CallState

/// The domain of `CXErrorCodeIncomingCallError`.
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"

/// Why an incoming call was not shown.
public struct CXErrorCodeIncomingCallError: CXCodedError {
  /// The reason, numbered as Apple numbers it.
  public enum Code: Int, CXErrorCode {
    /// The error that has such codes.
    public typealias ErrorType = CXErrorCodeIncomingCallError
    /// None of the others; the provider was invalidated.
    case unknown = 0
    /// The app may not use calls.
    case unentitled = 1
    /// A call with this UUID lives.
    case callUUIDAlreadyExists = 2
    /// The user does not want to be disturbed.
    case filteredByDoNotDisturb = 3
    /// The user blocked the caller.
    case filteredByBlockList = 4
    /// The screen is being shared.
    case filteredDuringRestrictedSharingMode = 5
    /// The call is protected.
    case callIsProtected = 6
    /// Its participants are sensitive.
    case filteredBySensitiveParticipants = 7
  }

  /// The reason.
  public let code: Code

  /// An error of the given reason; `userInfo` is not kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
  }

  /// `CXErrorDomainIncomingCall`.
  public static var errorDomain: String { CXErrorDomainIncomingCall }

  /// None of the others; the provider was invalidated.
  public static var unknown: Code { .unknown }
  /// The app may not use calls.
  public static var unentitled: Code { .unentitled }
  /// A call with this UUID lives.
  public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
  /// The user does not want to be disturbed.
  public static var filteredByDoNotDisturb: Code { .filteredByDoNotDisturb }
  /// The user blocked the caller.
  public static var filteredByBlockList: Code { .filteredByBlockList }
  /// The screen is being shared.
  public static var filteredDuringRestrictedSharingMode: Code {
    .filteredDuringRestrictedSharingMode
  }
  /// The call is protected.
  public static var callIsProtected: Code { .callIsProtected }
  /// Its participants are sensitive.
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
