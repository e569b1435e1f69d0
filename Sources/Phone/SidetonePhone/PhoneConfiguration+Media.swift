import CallSecurity
import MediaCore
public import SIPSignalling
import UDPTransport
public import VoiceEngine

/// The media of one call according to a configuration.
extension PhoneConfiguration {
  /// Opens a socket for RTP that is offered at a numeric address of this machine.
  ///
  /// Unless `bindsMediaToHost` is set, the socket is bound to no address: packets leave by any
  /// interface that leads to the far side, so that the voice goes on when the machine gets another
  /// address.
  func openSocket(at host: String, _ policy: MediaLeg.PortPolicy) throws -> MediaSocket {
    let any = host.contains(":") ? "::" : "0.0.0.0"
    let own = bindsMediaToHost ? host : any
    guard let address = SocketAddress(host: own, port: mediaPort),
      let other = SocketAddress(host: own, port: 0)
    else {
      throw PhoneError.noMedia("no local address")
    }
    do {
      return try MediaSocket(bindingTo: address)
    } catch {
      // The first error says more than a second one would.
      if policy == .anyPort, let socket = try? MediaSocket(bindingTo: other) { return socket }
      throw PhoneError.noMedia("cannot open the RTP port: \(error)")
    }
  }

  /// Returns the media to offer, or to answer with, at an address.
  func offer(host: String, port: UInt16, encryption: EncryptionOffer? = nil) -> MediaOffer {
    MediaOffer(
      host: host,
      port: port,
      // In whole milliseconds, the next higher one (RFC 7587 section 7).
      packetMilliseconds: max(1, (packetFrames + 47) / 48),
      codecs: codecs,
      usesDiscontinuousTransmission: usesDiscontinuousTransmission,
      offersCopies: usesRedundancy,
      encryption: encryption
    )
  }

  /// Lengths of packets in frames, which are those of Opus (RFC 6716 section 2.1.4).
  private static let packetLengths = [120, 240, 480, 960, 1_920, 2_880]

  /// Returns the configuration of the stream that an agreement asks for.
  public func stream(for media: NegotiatedMedia) -> StreamConfiguration {
    var stream = StreamConfiguration(
      codec: media.codec == .opus ? .opus : media.codec == .pcmu ? .pcmu : .pcma,
      sendPayloadType: media.sendPayloadType,
      receivePayloadType: media.receivePayloadType,
      ssrc: .random(in: 1...UInt32.max),
      seed: .random(in: 1...UInt64.max)
    )
    stream.maySend = media.maySend
    stream.isAuthenticated = media.claim != .open
    stream.followsFarSide = media.encryption != nil
    for other in media.others {
      stream.otherPayloadTypes |= 1 << UInt128(other.receivePayloadType & 127)
    }
    stream.sendEventPayloadType = media.sendEventPayloadType
    stream.receiveEventPayloadType = media.receiveEventPayloadType
    stream.eventClockRate = SampleRate(hertz: Int(media.eventClockRate))
    stream.otherEvent = media.otherEvent.map {
      .init(
        payloadType: $0.receivePayloadType,
        clockRate: SampleRate(hertz: Int($0.clockRate))
      )
    }
    if media.codec == .opus {
      stream.packetFrames = packetFrames
      let limits = [media.largestBitrate, media.bandwidth].compactMap { $0 }
      stream.bitrate = max(6_000, limits.reduce(bitrate, min))
      // A narrow way is for the voice, not for headers.
      if let bandwidth = media.bandwidth, bandwidth < 24_000 {
        stream.packetFrames = max(960, stream.packetFrames)
      }
      // In packets of 2.5 ms libopus sends nothing but silence below that, and says so nowhere.
      if stream.bitrate < 9_600 { stream.packetFrames = max(240, stream.packetFrames) }
      stream.complexity = complexity
      stream.usesInBandRedundancy = usesRedundancy && media.decodesInBandRedundancy
      stream.sendRedundancyPayloadType = media.sendRedundancyPayloadType
      stream.receiveRedundancyPayloadType = media.receiveRedundancyPayloadType
      // Packets of 2.5 ms and more bits are nothing to surprise a far side with.
      stream.adaptsPackets =
        adaptsPackets && media.sendRedundancyPayloadType != nil
        && (media.shortestPacketMilliseconds ?? 10) <= 3 && limits.isEmpty
      stream.usesDiscontinuousTransmission = usesDiscontinuousTransmission
      // A limit is one for noise as well, which a variable rate spends more on.
      stream.usesConstantBitRate =
        media.claim != .open && !usesVariableBitRate || !limits.isEmpty
    }
    // RFC 7587 section 6.1.
    if media.codec == .opus, let least = media.shortestPacketMilliseconds, least > 0 {
      let fitting = Self.packetLengths.first { $0 / 48 + ($0 % 48 == 0 ? 0 : 1) >= least }
      stream.packetFrames = max(stream.packetFrames, fitting ?? 2_880)
    }
    if let milliseconds = media.longestPacketMilliseconds, milliseconds > 0 {
      let most = milliseconds * 48
      if stream.packetFrames > most {
        stream.packetFrames = Self.packetLengths.last { $0 <= most } ?? stream.packetFrames
      }
      // Packets are lengthened to 20 ms, and on narrow links to 60 ms.
      stream.adaptsPackets = stream.adaptsPackets && most >= 2_880
    }
    if let milliseconds = media.requiredPacketMilliseconds {
      stream.packetFrames = milliseconds * 48
      stream.adaptsPackets = false
    }
    return stream
  }
}
