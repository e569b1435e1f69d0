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

  /// The codec of an encoding name, whose case does not matter (RFC 8866 section 6.6); nil if there
  /// is none.
  init?(encodingName name: String) {
    let found = Self.allCases.first { $0.encodingName.lowercased() == name.lowercased() }
    guard let found else { return nil }
    self = found
  }

  /// The rate of its RTP clock in hertz.
  var clockRate: UInt32 { self == .opus ? 48_000 : 8_000 }
}

/// The encryption that this side offers: DTLS-SRTP (RFC 5763), and, if the signalling is encrypted,
/// keys in the description itself (SDES, RFC 4568).
public struct EncryptionOffer: Equatable, Sendable {
  /// The kinds of calls among which an offer lets the far side choose.
  package enum Choice: Equatable, Sendable {
    /// Encrypted calls, or an unencrypted one for a phone that knows no encryption (RFC 8643).
    case any
    /// Encrypted calls only, by a handshake or else by described keys.
    case encryption
    /// Calls encrypted by described keys only.
    case describedKeys
    /// Unencrypted calls only, after the offers before were refused.
    case open
  }

  /// Fingerprint of the certificate that this side will present.
  package let fingerprint: Fingerprint
  /// The kinds of calls among which the far side may choose.
  package var choice: Choice
  /// True if the description may contain keys, since the signalling is encrypted.
  package var mayDescribeKeys = false

  /// An offer of encrypted calls, and of unencrypted ones unless encryption `isRequired`.
  public init(fingerprint: Fingerprint, isRequired: Bool) {
    self.fingerprint = fingerprint
    choice = isRequired ? .encryption : .any
  }

  /// True if no unencrypted call is offered.
  package var isRequired: Bool { choice != .any && choice != .open }

  /// The RTP profile for this choice in SDP (RFC 5764 section 8, RFC 4568 section 4.1).
  var profile: String {
    switch choice {
    case .any, .open: "RTP/AVP"
    case .encryption: "UDP/TLS/RTP/SAVP"
    case .describedKeys: "RTP/SAVP"
    }
  }
}

/// The encryption by a DTLS-SRTP handshake that both sides agreed on (RFC 5763).
public struct NegotiatedEncryption: Equatable, Sendable {
  /// The side that begins the handshake (RFC 5763 section 5).
  public enum Beginner: Equatable, Sendable {
    /// This side.
    case local
    /// The far side.
    case remote
  }

  /// Fingerprint of the certificate that the far side will present.
  public let fingerprint: Fingerprint
  /// The side that begins the handshake.
  public let beginner: Beginner
  /// True if the far side supports the short authentication words that the users compare.
  public let exchangesWords: Bool
}

/// The media that this side offers, or answers with, for the voice of a call.
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
  /// The path whose ICE candidates are offered too; nil to receive at the address above alone.
  package var path: PathOffer?

  /// An offer to receive RTP at the given address, by default with every codec.
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

/// The payload types and the clock rate that both sides use for telephone events (RFC 4733).
package struct AgreedEvent: Equatable, Sendable {
  /// The payload type that the far side expects.
  package let sendPayloadType: UInt8
  /// The payload type that the far side sends.
  package let receivePayloadType: UInt8
  /// The rate in hertz at which durations are counted.
  package let clockRate: UInt32
}

/// The media that both sides agreed on by offer and answer (RFC 3264).
public struct NegotiatedMedia: Equatable, Sendable {
  /// The codec of both directions.
  public private(set) var codec: OfferedCodec
  /// The payload type that the far side expects.
  public private(set) var sendPayloadType: UInt8
  /// The payload type that the far side sends.
  public private(set) var receivePayloadType: UInt8
  /// The numeric address to send RTP to.
  public let host: String
  /// The port to send RTP to.
  public let port: UInt16
  /// The numeric address to send RTCP to.
  public let controlHost: String
  /// The port to send RTCP to: the RTP port with rtcp-mux (RFC 5761), else the one that the far
  /// side names (RFC 3605), or the one after the RTP port.
  public let controlPort: UInt16
  /// The packet time that the far side prefers, in milliseconds; nil if it names none.
  public let packetMilliseconds: Int?
  /// The longest packet that the far side takes, in milliseconds (RFC 8866 section 6.5,
  /// `maxptime`); nil if it names none.
  public let longestPacketMilliseconds: Int?
  /// The packet time that the far side insists on, in milliseconds; nil if it accepts any.
  package var requiredPacketMilliseconds: Int?
  /// The payload type of telephone events that the far side expects; nil if it accepts none.
  public private(set) var sendEventPayloadType: UInt8?
  /// The payload type of telephone events that the far side sends; nil if it sends none.
  public private(set) var receiveEventPayloadType: UInt8?
  /// The rate in hertz at which the durations of events are counted: the codec's clock rate, or
  /// 8000 if the far side supports no other.
  public private(set) var eventClockRate: UInt32
  /// Telephone events at the other rate; the far side may send either (RFC 4733 section 2.5.1.1).
  package var otherEvent: AgreedEvent?
  /// The payload type of redundant payloads (RFC 2198) that the far side expects; nil if it accepts
  /// none.
  public private(set) var sendRedundancyPayloadType: UInt8?
  /// The payload type of redundant payloads that the far side sends; nil if it sends none.
  public private(set) var receiveRedundancyPayloadType: UInt8?
  /// The maximum bit rate of Opus that the far side wants, in bits per second (RFC 7587
  /// `maxaveragebitrate`); nil if it names none.
  public let largestBitrate: Int?
  /// The maximum bit rate of the payload in packets of 20 ms, in bits per second, by the far side's
  /// `b=` lines (RFC 8866 section 5.8, RFC 3890); nil without any.
  public let bandwidth: Int?
  /// The shortest packet time that the far side wants, in milliseconds (RFC 7587 `minptime`); nil
  /// if it names none.
  public let shortestPacketMilliseconds: Int?
  /// True if the far side decodes in-band redundancy (RFC 7587 `useinbandfec`).
  public let decodesInBandRedundancy: Bool
  /// The encryption by a DTLS handshake; nil if none was agreed on.
  public let encryption: NegotiatedEncryption?
  /// The keys that were agreed on in the descriptions; nil if these have none.
  package let describedKeys: SRTPKeys?
  /// The far side's ICE candidates and credentials; nil if one side does not use ICE, or if the
  /// far side's address was replaced on the way (RFC 8839 section 4.2.5).
  package private(set) var addresses: ICEDescription?
  /// Agreements on the other codecs in the far side's answer, which it may send at any time
  /// (RFC 3264 section 6.1).
  package var others: [NegotiatedMedia] = []
  /// False while this side may send no voice: one side holds the call, or the far side only sends.
  public let maySend: Bool
  /// False while no voice is expected from the far side: one side holds the call, or the far side
  /// only receives.
  public let mayReceive: Bool
}

extension NegotiatedMedia {
  /// Returns this agreement with another codec and without redundant payloads.
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

  /// This agreement without `others`.
  package var alone: Self {
    var alone = self
    alone.others = []
    return alone
  }

  /// This agreement without connectivity checks: media at the default address (RFC 8839 section
  /// 4.2.1).
  var unchecked: Self {
    var unchecked = self
    unchecked.addresses = nil
    return unchecked
  }

  /// Returns the agreement in `others` on the codec that the far side sends as a payload type; nil
  /// if there is none.
  ///
  /// Its own `others` are the remaining ones and this agreement.
  package func taking(_ payloadType: UInt8) -> Self? {
    guard var taken = others.first(where: { $0.receivePayloadType == payloadType }) else {
      return nil
    }
    taken.others = others.filter { $0.receivePayloadType != payloadType } + [alone]
    return taken
  }

  /// The claim about the far side: an identity, described keys, or no encryption.
  package var claim: MediaClaim {
    if let encryption { return .identity(encryption.fingerprint) }
    return describedKeys == nil ? .open : .keys
  }
}
