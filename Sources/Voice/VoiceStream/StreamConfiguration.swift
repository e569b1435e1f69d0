package import MediaCore
package import Playout

/// Configuration of one stream in both directions: the agreed codec and payload types, and this
/// side's own choices, such as complexity and SSRC.
public struct StreamConfiguration: Equatable, Sendable {
  /// A payload format.
  package enum Codec: Equatable, Sendable {
    /// Opus at a 48 kHz RTP clock (RFC 7587).
    case opus
    /// G.711 mu-law at 8 kHz, payload type 0.
    case pcmu
    /// G.711 A-law at 8 kHz, payload type 8.
    case pcma
  }

  /// The payload format of both directions.
  package var codec: Codec
  /// The payload type to send.
  package var sendPayloadType: UInt8
  /// The payload type to expect.
  package var receivePayloadType: UInt8
  /// Payload types of other codecs that were agreed on, as a set of bits.
  ///
  /// A far side may send any of them at any time (RFC 3264 section 6.1). Such packets are not
  /// played, but reported (`VoiceStream.takeDigit`).
  package var otherPayloadTypes: UInt128 = 0
  /// The payload type of redundant payloads to send (RFC 2198), nil if the far side accepts none.
  package var sendRedundancyPayloadType: UInt8?
  /// The payload type of redundant payloads to expect.
  package var receiveRedundancyPayloadType: UInt8?
  /// The payload type of telephone events to send (RFC 4733), nil if the far side accepts none.
  package var sendEventPayloadType: UInt8?
  /// The payload type of telephone events to expect.
  package var receiveEventPayloadType: UInt8?
  /// The rate at which the durations of telephone events are counted, nil for the codec's; their
  /// timestamps are the voice's.
  package var eventClockRate: SampleRate?
  /// Telephone events that the far side may send in addition, counted at another rate.
  package struct OtherEvent: Equatable, Sendable {
    /// The payload type to expect.
    package var payloadType: UInt8
    /// The rate of their durations.
    package var clockRate: SampleRate

    /// Events of a payload type and a rate.
    package init(payloadType: UInt8, clockRate: SampleRate) {
      self.payloadType = payloadType
      self.clockRate = clockRate
    }
  }
  /// Additional telephone events to expect, nil for none.
  package var otherEvent: OtherEvent?
  /// False if the far side only sends, or holds the call: RTCP is sent, but no RTP (RFC 3264).
  package var maySend = true
  /// Frames per packet at 48 kHz: 120, 240, 480, 960, 1920 or 2880.
  package var packetFrames: FrameCount
  /// Opus bits per second, 6000 to 510000.
  package var bitrate: Int
  /// Complexity of the Opus encoder, 0 to 10; a lower one takes less processor time, and sounds a
  /// little worse.
  package var complexity = 9
  /// Complexity of the Opus decoder, 0 to 10 (see `OpusVoiceDecoder`); nil for the one that suits
  /// `complexity`.
  package var decoderComplexity: Int?
  /// True to adapt packets to the far side's reports; `packetFrames` and `bitrate` are then for
  /// links with losses or jitter.
  ///
  /// It takes effect only if redundant payloads are agreed, which shows that the far side plays
  /// such a stream well.
  package var adaptsPackets = false
  /// True to let Opus send in-band redundancy when the far side reports loss and accepts no copies.
  package var usesInBandRedundancy: Bool
  /// True for discontinuous transmission: Opus sends less during silence.
  package var usesDiscontinuousTransmission: Bool
  /// True to make all Opus packets of a duration equally long, so that lengths reveal nothing of
  /// the speech (RFC 6562).
  package var usesConstantBitRate = false
  /// True if SRTP shows that received packets are from the far side.
  package var isAuthenticated = false
  /// True to send to the source of the newest authentic packet.
  ///
  /// That is possible if the keys came by a handshake, which went both ways between the same two
  /// ports.
  package var followsFarSide = false
  /// Mechanisms that playout uses: all, except in benchmarks.
  package var playout = PlayoutMechanisms()
  /// Synchronisation source (SSRC) of sent packets.
  package var ssrc: UInt32
  /// Seed of the first sequence number and timestamp, which also names the sender in RTCP.
  package var seed: UInt64

  /// Creates a configuration with the given codec and payload types and the defaults of a headset
  /// call.
  package init(
    codec: Codec,
    sendPayloadType: UInt8,
    receivePayloadType: UInt8,
    ssrc: UInt32,
    seed: UInt64
  ) {
    self.codec = codec
    self.sendPayloadType = sendPayloadType
    self.receivePayloadType = receivePayloadType
    self.ssrc = ssrc
    self.seed = seed
    packetFrames = codec == .opus ? 480 : 960
    bitrate = 48_000
    usesInBandRedundancy = true
    usesDiscontinuousTransmission = false
  }

  /// The payload type of redundancy (RFC 2198) without negotiation.
  package static var redundancyPayloadType: UInt8 { 97 }

  /// Returns a configuration of Opus without negotiation: payload type 96, and
  /// `redundancyPayloadType` if `hasCopies`.
  package static func opus(
    ssrc: UInt32,
    seed: UInt64,
    withCopies hasCopies: Bool = false
  ) -> StreamConfiguration {
    var configuration = StreamConfiguration(
      codec: .opus,
      sendPayloadType: 96,
      receivePayloadType: 96,
      ssrc: ssrc,
      seed: seed
    )
    if hasCopies {
      configuration.sendRedundancyPayloadType = redundancyPayloadType
      configuration.receiveRedundancyPayloadType = redundancyPayloadType
    }
    return configuration
  }

  /// Returns the bit rate at which packets of that many frames at 48 kHz sound like longer ones.
  ///
  /// Short packets need a higher one, since each repeats the data that all have in common.
  @_noAllocation @_noLocks
  package static func suitedBitrate(forPacketsOf frames: FrameCount) -> Int {
    frames < 240 ? 128_000 : frames < 480 ? 96_000 : 48_000
  }

  /// Complexity of the decoder: `decoderComplexity`, or one for a machine that can afford
  /// `complexity` in the encoder.
  ///
  /// At 5 and more, losses sound better, and cost several times what encoding costs, for as long as
  /// they last. At 7, low bit rates sound better, but words are understood a little less.
  var suitedDecoderComplexity: Int {
    decoderComplexity ?? (complexity >= 10 ? 7 : min(complexity, 5))
  }

  /// The timestamp of the first captured frame.
  package var firstTimestamp: RTPTimestamp {
    RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: seed &>> 16))
  }

  /// Rate of the RTP timestamps.
  package var clockRate: SampleRate {
    SampleRate(hertz: codec == .opus ? 48_000 : 8_000)
  }

  /// Number of ticks of the RTP clock per tick of an event's duration.
  var ticksPerEventTick: Int { ticks(perTickOf: eventClockRate) }

  func ticks(perTickOf rate: SampleRate?) -> Int {
    max(1, clockRate.hertz / (rate ?? clockRate).hertz)
  }
}
