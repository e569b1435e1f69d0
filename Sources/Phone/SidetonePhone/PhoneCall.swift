import Foundation
import MediaCore
import RealTime
import SIPSignalling
import UDPTransport
import VoiceEngine

/// One call as the phone keeps it: what signalling, media and the call system know of it.
final class PhoneCall {
  let uuid: UUID
  let isOutgoing: Bool
  var remote: String
  var sip: SIPCallID?
  /// Keeps the port open for as long as the call lives; streams own duplicates.
  var socket: MediaSocket?
  var localHost: String
  var media: NegotiatedMedia?
  /// What the stream was made for; differs from `media` after a re-INVITE.
  var streamMedia: NegotiatedMedia?
  var stream: StreamID?
  /// The one before, as long as it may have keys that were not sent.
  var formerStream: StreamID?
  var hadStream = false
  var isMuted = false
  /// True while this side holds it.
  var isHeld = false
  /// True while the far side holds it.
  var isHeldByFarSide = false
  /// When it stops ringing if it is not answered.
  var ringsUntil: MonotonicInstant?
  /// When this side resumed it; what is agreed upon then has to come.
  var resumedAt: MonotonicInstant?
  /// Keys that were pressed before there was a stream, coded as in RFC 4733.
  var waitingKeys: [UInt8] = []
  /// Calls of one conference hear each other; 0 stands for none.
  var conference = 0
  var connectedAt: MonotonicInstant?
  /// The reason to tell when the call system says that the call is over.
  var endReason: (text: String, isClean: Bool)?

  init(uuid: UUID, isOutgoing: Bool, remote: String, localHost: String) {
    self.uuid = uuid
    self.isOutgoing = isOutgoing
    self.remote = remote
    self.localHost = localHost
  }
}
