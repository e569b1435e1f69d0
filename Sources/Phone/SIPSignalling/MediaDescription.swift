public import CallSecurity
package import ICE
package import SRTP

/// A voice codec as SDP names it.
public enum OfferedCodec: Equatable, Sendable, CaseIterable {
  /// Opus (RFC 7587).
  case opus
  /// G.711 mu-law (RFC 3551).
  case pcmu
  /// G.711 A-law (RFC 3551).
  case pcma

  var encodingName: String {
    switch self {
    case .opus: "opus"
    case .pcmu: "PCMU"
    case .pcma: "PCMA"
    }
  }

  /// The codec of a name in any letters (RFC 8866 section 6.6); nil for another one.
  init?(encodingName name: String) {
    let found = Self.allCases.first { $0.encodingName.lowercased() == name.lowercased() }
    guard let found else { return nil }
    self = found
  }

  /// The rate of its RTP clock in hertz.
  var clockRate: UInt32 { self == .opus ? 48_000 : 8_000 }
}

/// The encryption that this side offers: DTLS-SRTP (RFC 5763), and keys in the description itself
/// (SDES, RFC 4568) where that is encrypted.
public struct EncryptionOffer: Equatable, Sendable {
  /// What the far side may choose from.
  package enum Choice: Equatable, Sendable {
    /// Encryption, or an open call for a phone that knows none (RFC 8643).
    case any
    /// Encryption, by a handshake or else by described keys.
    case encryption
    /// Encryption by described keys.
    case describedKeys
    /// An open call: what was offered before was refused.
    case open
  }

  /// The certificate that this side will show.
  package let fingerprint: Fingerprint
  /// What the far side may choose from.
  package var choice: Choice
  /// True if keys may be in the description, since the signalling is encrypted.
  package var mayDescribeKeys = false

  /// An offer to encrypt, or else to have no call if encryption is required.
  public init(fingerprint: Fingerprint, isRequired: Bool) {
    self.fingerprint = fingerprint
    choice = isRequired ? .encryption : .any
  }

  /// True if an open call is not offered.
  package var isRequired: Bool { choice != .any && choice != .open }

  /// The RTP profile that says so (RFC 5764 section 8, RFC 4568 section 4.1).
  var profile: String {
    switch choice {
    case .any, .open: "RTP/AVP"
    case .encryption: "UDP/TLS/RTP/SAVP"
    case .describedKeys: "RTP/SAVP"
    }
  }
}

/// The encryption that both sides agreed on.
public struct NegotiatedEncryption: Equatable, Sendable {
  /// The side that begins the handshake (RFC 5763 section 5).
  public enum Beginner: Equatable, Sendable {
    /// This side.
    case local
    /// The far side.
    case remote
  }

  /// The certificate that the far side will show.
  public let fingerprint: Fingerprint
  /// The side that begins the handshake.
  public let beginner: Beginner
  /// True if the far side exchanges words that people compare.
  public let exchangesWords: Bool
}

/// What this side offers for the voice of a call.
public struct MediaOffer: Equatable, Sendable {
  /// The numeric address to receive RTP at.
  package var host: String
  /// The port to receive RTP at.
  package var port: UInt16
  /// The packet time to announce, in milliseconds, 1 at least.
  package var packetMilliseconds: Int
  /// The codecs, best first.
  package var codecs: [OfferedCodec]
  /// True to announce discontinuous transmission.
  package var usesDiscontinuousTransmission: Bool
  /// True to offer redundant payloads (RFC 2198) with Opus.
  package var offersCopies: Bool
  /// The encryption to offer, nil for none.
  package var encryption: EncryptionOffer?
  /// The addresses to offer besides, nil for media that goes to the address above alone.
  package var path: PathOffer?

  /// An offer of every codec at the given address.
  public init(
    host: String,
    port: UInt16,
    packetMilliseconds: Int,
    codecs: [OfferedCodec] = [.opus, .pcmu, .pcma],
    usesDiscontinuousTransmission: Bool = false,
    offersCopies: Bool = true,
    encryption: EncryptionOffer? = nil
  ) {
    self.host = host
    self.port = port
    self.packetMilliseconds = packetMilliseconds
    self.codecs = codecs
    self.usesDiscontinuousTransmission = usesDiscontinuousTransmission
    self.offersCopies = offersCopies
    self.encryption = encryption
  }
}

/// Telephone events (RFC 4733) as both sides number them.
package struct AgreedEvent: Equatable, Sendable {
  /// The payload type that the far side expects.
  package let sendPayloadType: UInt8
  /// The payload type that it sends.
  package let receivePayloadType: UInt8
  /// The rate in hertz at which durations are counted.
  package let clockRate: UInt32
}

/// What both sides agreed on (RFC 3264).
public struct NegotiatedMedia: Equatable, Sendable {
  /// The codec of both directions.
  public private(set) var codec: OfferedCodec
  /// The payload type that the far side expects.
  public private(set) var sendPayloadType: UInt8
  /// The payload type that it sends.
  public private(set) var receivePayloadType: UInt8
  /// Where to send RTP.
  public let host: String
  /// Where to send RTP.
  public let port: UInt16
  /// Where to send RTCP.
  public let controlHost: String
  /// Where to send RTCP: the RTP port with rtcp-mux (RFC 5761), else the one after it.
  public let controlPort: UInt16
  /// The packet time that the far side wishes, in milliseconds, nil if it has none.
  public let packetMilliseconds: Int?
  /// The duration of a packet in milliseconds that the far side insists on; nil if it takes any.
  package var requiredPacketMilliseconds: Int?
  /// The payload type of telephone events that the far side expects, nil if it takes none.
  public private(set) var sendEventPayloadType: UInt8?
  /// The payload type of telephone events that it sends, nil if it sends none.
  public private(set) var receiveEventPayloadType: UInt8?
  /// The rate in hertz at which the durations of events are counted: the codec's, or 8000 where the
  /// far side has no other.
  public private(set) var eventClockRate: UInt32
  /// Telephone events at the other rate; the far side may send either (RFC 4733 section 2.5.1.1).
  package var otherEvent: AgreedEvent?
  /// The payload type of redundant payloads (RFC 2198) that the far side expects, nil if it takes
  /// none.
  public private(set) var sendRedundancyPayloadType: UInt8?
  /// The payload type of redundant payloads that it sends, nil if it sends none.
  public private(set) var receiveRedundancyPayloadType: UInt8?
  /// The most bits per second of Opus that the far side wishes (RFC 7587 `maxaveragebitrate`), nil
  /// if it does not say.
  public let largestBitrate: Int?
  /// The shortest packets that the far side wishes, in milliseconds (RFC 7587 `minptime`), nil if
  /// it does not say.
  public let shortestPacketMilliseconds: Int?
  /// True if the far side decodes in-band redundancy (RFC 7587 `useinbandfec`).
  public let decodesInBandRedundancy: Bool
  /// The encryption by a handshake, nil if the far side has none.
  public let encryption: NegotiatedEncryption?
  /// The keys that the descriptions agreed on, nil if they have none.
  package let describedKeys: SRTPKeys?
  /// The far side's addresses, nil if it does without checks, or has a description from which
  /// something on the way has taken its addresses.
  package let addresses: ICEDescription?
  /// Agreements on the other codecs that the far side's answer has: it may send any of them at any
  /// time (RFC 3264 section 6.1).
  package var others: [NegotiatedMedia] = []
  /// False while the far side holds the call or only sends.
  public let maySend: Bool
  /// False while the far side holds the call: nothing is to be expected from it.
  public let mayReceive: Bool
}

extension NegotiatedMedia {
  /// The same with another codec, without copies.
  func with(_ codec: OfferedCodec, sending sent: UInt8, receiving received: UInt8) -> Self {
    var other = self
    other.codec = codec
    other.sendPayloadType = sent
    other.receivePayloadType = received
    other.sendRedundancyPayloadType = nil
    other.receiveRedundancyPayloadType = nil
    // Events of the voice's own rate come first.
    guard let former = event,
      let event = [former, otherEvent].compactMap({ $0 })
        .first(where: { $0.clockRate == codec.clockRate })
    else { return other }
    other.sendEventPayloadType = event.sendPayloadType
    other.receiveEventPayloadType = event.receivePayloadType
    other.eventClockRate = event.clockRate
    other.otherEvent = event == former ? otherEvent : former
    return other
  }

  private var event: AgreedEvent? {
    guard let sent = sendEventPayloadType, let received = receiveEventPayloadType else {
      return nil
    }
    return AgreedEvent(
      sendPayloadType: sent,
      receivePayloadType: received,
      clockRate: eventClockRate
    )
  }

  /// The same without the others beside it.
  package var alone: Self {
    var alone = self
    alone.others = []
    return alone
  }

  /// The agreement on the codec that comes as a payload type, with the others beside it; nil if
  /// there is none.
  package func taking(_ payloadType: UInt8) -> Self? {
    guard var taken = others.first(where: { $0.receivePayloadType == payloadType }) else {
      return nil
    }
    taken.others = others.filter { $0.receivePayloadType != payloadType } + [alone]
    return taken
  }

  /// What it claims about the far side.
  package var claim: MediaClaim {
    if let encryption { return .identity(encryption.fingerprint) }
    return describedKeys == nil ? .open : .keys
  }
}
