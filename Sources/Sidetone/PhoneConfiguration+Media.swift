public import SIPSignalling
import UDPTransport
public import VoiceEngine

/// What a configuration means for the media of one call.
extension PhoneConfiguration {
  /// A socket for RTP at the given numeric address; a later call has another port if an earlier one
  /// still has the configured one.
  func openSocket(at host: String, isFirst: Bool) throws -> MediaSocket {
    guard let address = SocketAddress(host: host, port: mediaPort),
      let other = SocketAddress(host: host, port: 0)
    else {
      throw PhoneError("no local address")
    }
    do {
      return try MediaSocket(bindingTo: address)
    } catch {
      if !isFirst, let socket = try? MediaSocket(bindingTo: other) { return socket }
      throw PhoneError("cannot open the RTP port: \(error)")
    }
  }

  /// What to offer or answer for a call; nil while it has no socket.
  func offer(for call: PhoneCall) -> MediaOffer? {
    guard let port = call.socket?.localPort else { return nil }
    return MediaOffer(
      host: call.localHost,
      port: port,
      packetMilliseconds: max(1, packetFrames / 48),
      codecs: codecs,
      usesDiscontinuousTransmission: usesDiscontinuousTransmission,
      usesRedundancy: usesRedundancy
    )
  }

  /// The stream that an agreement asks for.
  public func stream(for media: NegotiatedMedia) -> StreamConfiguration {
    var stream = StreamConfiguration(
      codec: media.codec == .opus ? .opus : media.codec == .pcmu ? .pcmu : .pcma,
      sendPayloadType: media.sendPayloadType,
      receivePayloadType: media.receivePayloadType,
      ssrc: .random(in: 1...UInt32.max),
      seed: .random(in: 1...UInt64.max)
    )
    stream.maySend = media.maySend
    stream.sendEventPayloadType = media.sendEventPayloadType
    stream.receiveEventPayloadType = media.receiveEventPayloadType
    if media.codec == .opus {
      stream.packetFrames = packetFrames
      stream.bitrate = bitrate
      stream.complexity = complexity
      stream.usesRedundancy = usesRedundancy && media.usesRedundancy
      stream.sendRedundancyPayloadType = media.sendRedundancyPayloadType
      stream.receiveRedundancyPayloadType = media.receiveRedundancyPayloadType
      // Packets of 5 ms are nothing to surprise a far side with.
      stream.adaptsPackets =
        adaptsPackets && media.sendRedundancyPayloadType != nil
        && (media.shortestPacketMilliseconds ?? 10) <= 5
      stream.usesDiscontinuousTransmission = usesDiscontinuousTransmission
    }
    return stream
  }
}
