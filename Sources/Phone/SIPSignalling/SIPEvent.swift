import Glibc

/// Names a call of one user agent.
public struct SIPCallID: Hashable, Sendable {
  let rawValue: Int
}

/// Why a call ended.
public enum SIPEndReason: Equatable, Sendable {
  /// The far side hung up, or gave up calling.
  case remoteHangUp
  /// A final response refused the call (RFC 3261 section 21).
  case refused(code: Int, phrase: String)
  /// No answer from the far side's signalling.
  case timeout
  /// The two sides have no codec in common, or a description made no sense.
  case noCommonCodec
  /// Nothing was heard of the far side: there is no connection to it.
  case unreachable(String)
  /// The far side of the connection has another certificate than it had before.
  case strangeIdentity
  /// The far side knows nothing of the call any more, or is not there.
  case gone
  /// The far side is at another address now, if it says at which.
  case moved(to: String?)
  /// Another phone of the user's has answered.
  case answeredElsewhere
  /// Another phone of the user's has declined.
  case declinedElsewhere
  /// The connection failed.
  case failed(String)
}

/// How an incoming call is refused.
public enum SIPRefusal: Equatable, Sendable {
  /// By the user, for all of his telephones (603).
  case declined
  /// Not answered here; other devices may still ring (480).
  case unavailable
}

/// Who calls, and what he offers.
public struct Caller: Equatable, Sendable {
  /// The SIP address that he gives himself.
  public let address: String
  /// The name that he gives himself, nil for none.
  public let displayName: String?
  /// The numeric address that the call came from.
  public let source: String
  /// What an answer would agree on, nil if he has offered nothing yet.
  public let media: NegotiatedMedia?
  /// The account whose server passed the call on; nil for one that came directly.
  public let account: String?
  /// True if the account's server says so over the connection that it was recognized by.
  public let isVouchedFor: Bool
  /// True if there was a call with his host before, or an account's server passed this one on by
  /// TLS.
  public let isKnown: Bool
  /// The call of this side that the caller takes the place of; nil for one of its own.
  public let replaced: ReplacedCall?
}

/// A call that a caller asks to take the place of (Replaces, RFC 3891).
public struct ReplacedCall: Equatable, Sendable {
  /// The call.
  public let id: SIPCallID
  /// True if only its two sides can know its name; otherwise the user is to be asked.
  public let isNameProven: Bool
}

/// Something that happened.
public enum SIPEvent: Equatable, Sendable {
  /// The machine has got other addresses: those that are listened at now, with their ports.
  case listening(at: [String])
  /// Encrypted signalling cannot be received, for the given reason; calls go on without.
  case notListeningSecurely(String)
  /// What has become of an account's registration.
  case registration(String, RegistrationState)
  /// What an account does to be registered, in words.
  case accountStep(String, String)
  /// So many new voice messages wait for an account.
  case messagesWaiting(String, count: Int)
  /// A call arrives; 180 Ringing has been sent.
  case incoming(SIPCallID, Caller)
  /// The far side rings.
  case ringing(SIPCallID)
  /// The dialog is confirmed: both sides can talk. The far side's signalling has come from a host,
  /// and has shown that what is sent there is received.
  case established(SIPCallID, from: String?)
  /// What the sides agreed on, at first and after each re-INVITE.
  case media(SIPCallID, NegotiatedMedia)
  /// The voice of a call goes this way from now on.
  case routed(SIPCallID, MediaRoute)
  /// There is no way for the voice of a call, or not any more, for the given reason.
  case unroutable(SIPCallID, String)
  /// A server that was to help with the way of the voice does not, for the given reason.
  case pathRemark(String)
  /// The far side pressed a key, and said so by INFO.
  case digit(SIPCallID, String)
  /// The far side wants this side to call another one, and to hear what has become of that
  /// (`UserAgent.reportTransfer`).
  case transferRequested(SIPCallID, TransferTarget)
  /// What has become of a transfer that this side has asked for: the status of the far side's new
  /// call, final from 200 on.
  case transferProgressed(SIPCallID, status: Int)
  /// A re-INVITE could not be sent, for the given reason: the far side was not notified of what has
  /// changed.
  case renegotiationFailed(SIPCallID, reason: String)
  /// The far side does not take a re-INVITE of this side's: what was agreed before stands (RFC 3261
  /// section 14.1).
  case offerRefused(SIPCallID)
  /// The far side has answered the question whether it is still there (`UserAgent.ask`).
  case present(SIPCallID)
  /// The call is over.
  case ended(SIPCallID, SIPEndReason)
}

/// A user agent that could not start or place a call.
public struct SIPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What failed, in words.
  public let reason: String

  /// What failed, in words.
  public var description: String { reason }

  /// The system's words for an `errno`.
  static func text(_ code: CInt) -> String {
    let text = unsafe strerror(code)
    return unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
