import Foundation
import MediaTime
import RealTime
import SIPSignalling
import UDPTransport
import VoiceEngine

/// One call as the phone keeps it: what signalling, media and the call system know of it.
final class PhoneCall {
  let uuid: UUID
  let isOutgoing: Bool
  let remote: String
  var sip: SIPCallID?
  var socket: MediaSocket?
  var localHost: String
  var media: NegotiatedMedia?
  var stream: StreamID?
  var isMuted = false
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
