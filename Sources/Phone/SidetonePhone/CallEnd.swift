import CallKit
import SIPSignalling

/// The cause of a call's end, with its SIP code and a sentence for the user.
///
/// Programs should decide by the case; `description` is for people and may be reworded. Associated
/// texts are for people as well, without a full stop.
public enum CallEnd: Error, Equatable, Sendable, CustomStringConvertible {
  /// This side hung up a call that was connected.
  case hungUp
  /// The far side hung up a call that was connected (BYE, RFC 3261 section 15).
  case hungUpByFarSide
  /// The far side was transferred to another one (REFER, RFC 3515).
  case transferred
  /// This side gave the call up, or declined it, before it was connected.
  case cancelled
  /// The caller gave the call up before it was answered (CANCEL, RFC 3261 section 9).
  case cancelledByFarSide
  /// The far side is in another call: 486, or 600 for all of its devices.
  case busy(code: Int)
  /// The far side declined the call (603).
  case declined
  /// The far side takes no calls at present (480).
  case notAvailable
  /// There is no such user: 404, 604, or 410 if there was one.
  case notFound(code: Int)
  /// Another phone of this user answered the call (RFC 3326).
  case answeredElsewhere
  /// Another phone of this user declined the call (RFC 3326).
  case declinedElsewhere
  /// The far side has moved to another address (3xx); nil if the response names none.
  case moved(to: String?)
  /// A final response refused the call with another code (RFC 3261 section 21).
  case refused(code: Int, phrase: String)
  /// The far side rang and did not answer, or its signalling does not answer.
  case noAnswer
  /// The sides have no codec in common, or a session description could not be read (488).
  case noCommonCodec
  /// There is no connection to the far side.
  case unreachable(String)
  /// Contact with the far side was lost.
  case lost(String)
  /// Encryption or the far side's identity is not as the user's policy demands.
  case securityRefused(String)
  /// Something else failed, on this machine as a rule: a device, a port.
  case failed(String)

  /// The code of the SIP response that refused the call, 400 to 699; nil if none did, and for cases
  /// that a response alone does not determine: `noAnswer` (408) and `noCommonCodec` (488).
  public var code: Int? {
    switch self {
    case .busy(let code), .notFound(let code), .refused(let code, _): code
    case .declined: 603
    case .notAvailable: 480
    case .hungUp, .hungUpByFarSide, .transferred, .cancelled, .cancelledByFarSide,
      .answeredElsewhere, .declinedElsewhere, .moved, .noAnswer, .noCommonCodec, .unreachable,
      .lost, .securityRefused, .failed:
      nil
    }
  }

  /// The name of the case, as `cause` of JSON events has it.
  public var cause: String {
    switch self {
    case .hungUp: "hungUp"
    case .hungUpByFarSide: "hungUpByFarSide"
    case .transferred: "transferred"
    case .cancelled: "cancelled"
    case .cancelledByFarSide: "cancelledByFarSide"
    case .busy: "busy"
    case .declined: "declined"
    case .notAvailable: "notAvailable"
    case .notFound: "notFound"
    case .answeredElsewhere: "answeredElsewhere"
    case .declinedElsewhere: "declinedElsewhere"
    case .moved: "moved"
    case .refused: "refused"
    case .noAnswer: "noAnswer"
    case .noCommonCodec: "noCommonCodec"
    case .unreachable: "unreachable"
    case .lost: "lost"
    case .securityRefused: "securityRefused"
    case .failed: "failed"
    }
  }

  /// The cause in words.
  public var description: String {
    switch self {
    case .hungUp, .cancelled: "hung up"
    case .hungUpByFarSide, .cancelledByFarSide: "the far side hung up"
    case .transferred: "transferred"
    case .busy: "busy"
    case .declined: "declined"
    case .notAvailable: "not available"
    case .notFound: "no such user"
    case .answeredElsewhere: "answered elsewhere"
    case .declinedElsewhere: "declined elsewhere"
    case .moved(let address?): "the far side has moved; call \(address) instead"
    case .moved(nil): "the far side has moved, and does not say where"
    case .refused(487, _): "cancelled"
    case .refused(let code, let phrase): "refused: \(code) \(phrase)"
    case .noAnswer: "no answer from the far side"
    case .noCommonCodec: "no common codec"
    case .unreachable(let text), .lost(let text), .securityRefused(let text), .failed(let text):
      text
    }
  }

  /// True if the call was connected and one of the two sides ended it.
  public var isClean: Bool {
    switch self {
    case .hungUp, .hungUpByFarSide, .transferred: true
    case .cancelled, .cancelledByFarSide, .busy, .declined, .notAvailable, .notFound,
      .answeredElsewhere, .declinedElsewhere, .moved, .refused, .noAnswer, .noCommonCodec,
      .unreachable, .lost, .securityRefused, .failed:
      false
    }
  }
}

extension CallEnd {
  /// The end that signalling reports of a call; `wasConnected` if both sides could talk.
  init(_ reason: SIPEndReason, wasConnected: Bool) {
    self =
      switch reason {
      case .remoteHangUp: wasConnected ? .hungUpByFarSide : .cancelledByFarSide
      case .refused(let code, let phrase): CallEnd(code: code, phrase: phrase)
      case .timeout: .noAnswer
      case .noCommonCodec: .noCommonCodec
      case .unreachable(let reason): .unreachable("cannot reach the far side: \(reason)")
      case .strangeIdentity:
        .securityRefused("the far side's identity is not the one that it had before")
      case .gone: .lost("the far side is gone")
      case .moved(let address): .moved(to: address)
      case .answeredElsewhere: .answeredElsewhere
      case .declinedElsewhere: .declinedElsewhere
      case .failed(let reason): .failed(reason)
      }
  }

  /// The end by a final response (RFC 3261 section 21).
  init(code: Int, phrase: String) {
    self =
      switch code {
      case 486, 600: .busy(code: code)
      case 603: .declined
      case 480: .notAvailable
      case 404, 410, 604: .notFound(code: code)
      case 408: .noAnswer
      case 488: .noCommonCodec
      default: .refused(code: code, phrase: phrase)
      }
  }

  /// The end by an error that was thrown while a call was set up.
  init(_ error: any Error) {
    self = error as? CallEnd ?? .failed("\(error)")
  }

  /// The reason to report to the call system for a call that ended before it was connected.
  var reasonBeforeConnection: CXCallEndedReason {
    switch self {
    case .answeredElsewhere: .answeredElsewhere
    case .declinedElsewhere: .declinedElsewhere
    case .hungUp, .hungUpByFarSide, .transferred, .cancelled, .cancelledByFarSide, .busy,
      .declined, .notAvailable, .notFound, .moved, .refused, .noAnswer, .noCommonCodec,
      .unreachable, .lost, .securityRefused, .failed:
      .unanswered
    }
  }
}
