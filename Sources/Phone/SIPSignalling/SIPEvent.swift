import Glibc

/// Identifies a call of one user agent.
public struct SIPCallID: Hashable, Sendable {
  let rawValue: Int
}

/// The reason for the end of a call.
public enum SIPEndReason: Equatable, Sendable {
  /// The far side hung up, or gave up calling.
  case remoteHangUp
  /// A final response refused the call (RFC 3261 section 21).
  case refused(code: Int, phrase: String)
  /// No answer from the far side's signalling.
  case timeout
  /// The two sides have no codec in common, or a description made no sense.
  case noCommonCodec
  /// There is no connection to the far side, for the given reason.
  case unreachable(String)
  /// The far side of the connection presented another certificate than before.
  case strangeIdentity
  /// The far side does not know the call any more, or is gone.
  case gone
  /// The far side has another address now; nil if it does not name it.
  case moved(to: String?)
  /// Another phone of the user's has answered.
  case answeredElsewhere
  /// Another phone of the user's has declined.
  case declinedElsewhere
  /// Signalling failed, for the given reason.
  case failed(String)
}

/// The kind of refusal that an incoming call gets.
public enum SIPRefusal: Equatable, Sendable {
  /// Declined by the user, for all of the user's telephones (603).
  case declined
  /// Not answered here; other devices may still ring (480).
  case unavailable
}

/// The caller of an incoming call, and the media of its offer.
public struct Caller: Equatable, Sendable {
  /// SIP address of the caller: the one that the account's server asserts if `isVouchedFor`, else
  /// the caller's own claim.
  public let address: String
  /// Display name from the same source as `address`; nil for none.
  public let displayName: String?
  /// Numeric address that the call came from.
  public let source: String
  /// Media that an answer would agree on; nil if the call came without an offer.
  public let media: NegotiatedMedia?
  /// Address of the account whose server passed the call on; nil for a direct call.
  public let account: String?
  /// True if the account's server asserts `address` (RFC 3325), over the TLS connection by which
  /// the server was recognized.
  public let isVouchedFor: Bool
  /// True if there was a call with the caller's host before, or if an account's server passed this
  /// one on by TLS.
  public let isKnown: Bool
  /// The call that this one asks to replace; nil for an ordinary call.
  public let replaced: ReplacedCall?
}

/// A call that an incoming call asks to replace (Replaces, RFC 3891).
public struct ReplacedCall: Equatable, Sendable {
  /// The call to be replaced.
  public let id: SIPCallID
  /// True if only the call's two sides can know the identifiers of its dialog; otherwise the user
  /// is to be asked.
  public let isNameProven: Bool
}

/// Something that happened to a user agent or to one of its calls.
public enum SIPEvent: Equatable, Sendable {
  /// The machine's addresses have changed; the agent now listens at these, given with their ports.
  case listening(at: [String])
  /// Encrypted signalling cannot be received, for the given reason; calls go on without.
  case notListeningSecurely(String)
  /// The registration of an account, given by its address, has changed its state.
  case registration(String, RegistrationState)
  /// A step in the registration of an account, given by its address, in words.
  case accountStep(String, String)
  /// The number of new voice messages that wait for an account has changed.
  case messagesWaiting(String, count: Int)
  /// A call arrives; 180 Ringing has been sent.
  case incoming(SIPCallID, Caller)
  /// The far side rings.
  case ringing(SIPCallID)
  /// The dialog is confirmed: both sides can talk.
  ///
  /// `from` is the numeric host of the far side's signalling, which has shown that it receives what
  /// is sent there; nil if it is not known.
  case established(SIPCallID, from: String?)
  /// The media that the sides agreed on, at first and after each re-INVITE.
  case media(SIPCallID, NegotiatedMedia)
  /// An account's server asserts another far side (RFC 5876), by URI, and by name if it is known.
  case renamed(SIPCallID, address: String, name: String?)
  /// The voice of a call takes this path from now on.
  case routed(SIPCallID, MediaRoute)
  /// No path for the voice of a call is open, or its path is lost, for the given reason.
  case unroutable(SIPCallID, String)
  /// The relay cannot be used for a call's voice, for the given reason.
  case pathRemark(String)
  /// The far side sent a DTMF digit by INFO.
  case digit(SIPCallID, String)
  /// The far side asks this side to call a target, and to report the outcome
  /// (`UserAgent.reportTransfer`).
  case transferRequested(SIPCallID, TransferTarget)
  /// A transfer that this side asked for has progressed: the status of the far side's new call,
  /// final from 200 on.
  case transferProgressed(SIPCallID, status: Int)
  /// A re-INVITE could not be sent, for the given reason: the far side was not notified of a
  /// change.
  case renegotiationFailed(SIPCallID, reason: String)
  /// The far side has refused a re-INVITE of this side's: the former agreement stands (RFC 3261
  /// section 14.1).
  case offerRefused(SIPCallID)
  /// The far side's signalling has shown that it is still there (`UserAgent.ask`).
  case present(SIPCallID)
  /// The call is over.
  case ended(SIPCallID, SIPEndReason)
}

/// An error in signalling: an agent cannot start or place a call, or an address makes no sense.
public enum SIPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The text is not the address of an account.
  case noAccount(String)
  /// The text does not name a server of the given kind.
  case noServer(String, kind: ServerKind)
  /// Nothing can listen at a local address, for the given reason.
  case cannotListen(at: String, reason: String)
  /// The SIP library or its TLS cannot be used, for the given reason.
  case unusableLibrary(String)
  /// No address of this machine leads to an account's server.
  case noWay(to: String)
  /// An INVITE to an address cannot be sent, for the given reason.
  case cannotCall(String, reason: String)

  /// A kind of server that is given as text.
  public enum ServerKind: Sendable {
    /// An account's registrar and proxy.
    case sip
    /// A server that tells a machine its public address (RFC 8489).
    case stun
    /// A relay (RFC 8656).
    case turn
  }

  /// The failure in words.
  public var description: String {
    switch self {
    case .noAccount(let text): "\"\(text)\" is no address of an account; write NAME@DOMAIN"
    case .noServer(let text, .sip): "\"\(text)\" is no server; write HOST or HOST:PORT"
    case .noServer(let text, .stun): "\"\(text)\" is no STUN server; write HOST or HOST:PORT"
    case .noServer(let text, .turn):
      "\"\(text)\" is no TURN server; write turn:HOST, turn:HOST?transport=tcp or turns:HOST"
    case .cannotListen(let address, let reason): "cannot listen at \(address): \(reason)"
    case .unusableLibrary(let reason): reason
    case .noWay(let server): "there is no way to \(server)"
    case .cannotCall(let address, let reason): "cannot call \(address): \(reason)"
    }
  }

  /// Returns the system's text for an `errno`.
  static func text(_ code: CInt) -> String {
    let text = unsafe strerror(code)
    return unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}
