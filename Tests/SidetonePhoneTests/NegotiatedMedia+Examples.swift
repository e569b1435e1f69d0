import CallSecurity
import SRTP

@testable import SIPSignalling

extension SecurityRule {
  /// Security rule for a call with an unknown peer.
  static let unknown = SecurityRule(.preferred, address: "bob@10.0.0.2", record: nil)
}

extension NegotiatedMedia {
  /// Opus with DTMF digits, towards a port of this machine.
  static func opus(
    port: UInt16 = 9,
    maySend: Bool = true,
    mayReceive: Bool = true,
    takesDigits: Bool = true,
    encryption: NegotiatedEncryption? = nil,
    describedKeys: SRTPKeys? = nil,
    longestPacketMilliseconds: Int? = nil,
    largestBitrate: Int? = nil,
    bandwidth: Int? = nil,
    shortestPacketMilliseconds: Int? = nil
  ) -> NegotiatedMedia {
    NegotiatedMedia(
      codec: .opus,
      sendPayloadType: 96,
      receivePayloadType: 96,
      host: "127.0.0.1",
      port: port,
      controlHost: "127.0.0.1",
      controlPort: port,
      packetMilliseconds: nil,
      longestPacketMilliseconds: longestPacketMilliseconds,
      sendEventPayloadType: takesDigits ? 101 : nil,
      receiveEventPayloadType: 101,
      eventClockRate: 48_000,
      sendRedundancyPayloadType: nil,
      receiveRedundancyPayloadType: nil,
      largestBitrate: largestBitrate,
      bandwidth: bandwidth,
      shortestPacketMilliseconds: shortestPacketMilliseconds,
      decodesInBandRedundancy: false,
      encryption: encryption,
      describedKeys: describedKeys,
      addresses: nil,
      maySend: maySend,
      mayReceive: mayReceive
    )
  }
}
