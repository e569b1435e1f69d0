import CLibre
import MediaCore

@testable import SIPSignalling

/// A timer of a machine's signalling.
enum SignallingTimer {
  /// A request is sent once more, or given up.
  case request(Int)
  /// A final answer to an INVITE that was not acknowledged is sent once more, or given up.
  case answer(SIPMessage.Transaction)
  /// A re-INVITE that the far side could not accept is sent again (491: RFC 3261 section 14.1).
  case retry(SIPCallID, Int)
  /// The session timer, by its number.
  case session(SIPCallID, Int)
}

/// One call as a machine's signalling has it: what `SIPCall` and libre's session hold.
struct SignalledCall {
  let id: SIPCallID
  let callID: Int
  let peer: Int
  let isIncoming: Bool
  let localTag: Int
  var remoteTag: Int
  var description: SessionDescription?
  /// The description in the INVITE, until it is answered.
  var remoteOffer: [UInt8]?
  var isAnswered = false
  var isEstablished = false
  /// True if a hold before the call was established is to be signalled once it is.
  var wantsRenegotiation = false
  /// An offer that waits until the one before it is answered.
  var waitingOffer: [UInt8]?
  /// CSeq numbers of this side's last request, and of the far side's.
  var localSequence = 0
  var remoteSequence = 0
  /// The first INVITE of an incoming call.
  var invite: SIPMessage?
  /// Number of this side's pending INVITE.
  var request: Int?
  /// The far side's INVITE that was answered and not acknowledged yet.
  var unacknowledged: SIPMessage.Transaction?
  /// Number of pauses before an offer is sent again; the timers of earlier ones are ignored.
  var retryNumber = 0
  var isWaitingForRetry = false
  var offerRetry = OfferRetry()
  var timer: SessionTimer?
  var timerNumber = 0
  var isAsking = false
  var isRefreshing = false
  var presence = FarSidePresence()
  var isHeld = false {
    didSet { if isHeld != oldValue { presence.noteHold() } }
  }

  var isBusy: Bool { request != nil || unacknowledged != nil || isWaitingForRetry }
}

extension SessionDescription {
  /// The description as an offer or an answer, in bytes.
  func text(asOffer isOffer: Bool) -> [UInt8]? {
    guard let buffer = unsafe encode(asOffer: isOffer) else { return nil }
    defer { _ = unsafe mem_deref(buffer) }
    guard let start = unsafe mbuf_buf(buffer) else { return nil }
    return unsafe Array(UnsafeBufferPointer(start: start, count: mbuf_get_left(buffer)))
  }

  /// Negotiates with the far side's description; returns the agreed media, nil on failure.
  func take(_ text: [UInt8], isOffer: Bool) -> NegotiatedMedia? {
    guard let buffer = unsafe re_buffer_from(text, text.count) else { return nil }
    defer { _ = unsafe mem_deref(buffer) }
    return unsafe negotiate(with: buffer, isOffer: isOffer)
  }
}
