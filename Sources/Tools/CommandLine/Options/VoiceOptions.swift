import ArgumentParser
import Localization
import SidetonePhone
import SIPSignalling
import VoiceEngine

/// Options for the encoding of the voice.
struct VoiceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Packet duration, ms: 2.5, 5, 10, 20, 40 or 60. Default: 2.5 to 10, as the network allows.",
      valueName: "ms",
      visibility: .rare
    )
  )
  var frame: Double?

  @Option(
    help: ArgumentHelp(
      "Opus bit rate in bit/s, 6000 to 510000. Default: what suits packets and network.",
      valueName: "bit/s",
      visibility: .rare
    )
  )
  var bitrate: Int?

  @Option(
    help: ArgumentHelp(
      "How much Opus computes, 0 to 10; less sounds a little worse.",
      valueName: "n",
      visibility: .rare
    )
  )
  var complexity = 9

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp("Send redundancy when packets are lost.", visibility: .rare)
  )
  var fec = true

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp("Send less during silence (DTX).", visibility: .rare)
  )
  var dtx = false

  @Flag(
    help: ArgumentHelp(
      "Let encrypted packets be as long as the words need, which tells something of them.",
      visibility: .rare
    )
  )
  var vbr = false

  @Option(
    help: ArgumentHelp(
      "Codecs to offer, best first: opus, pcmu, pcma. Without a far side the first one is used.",
      valueName: "list",
      visibility: .rare
    )
  )
  var codecs = "opus,pcmu,pcma"

  func validate() throws {
    guard [2.5, 5, 10, 20, 40, 60].contains(frame ?? 10) else {
      throw ValidationError(localized: "--frame is 2.5, 5, 10, 20, 40 or 60")
    }
    guard (6_000...510_000).contains(bitrate ?? 48_000) else {
      throw ValidationError(localized: "--bitrate is between 6000 and 510000")
    }
    guard (0...10).contains(complexity) else {
      throw ValidationError(localized: "--complexity is between 0 and 10")
    }
    guard !offeredCodecs.isEmpty, offeredCodecs.count == codecs.split(separator: ",").count else {
      throw ValidationError(localized: "--codecs is a list of opus, pcmu and pcma")
    }
  }

  var offeredCodecs: [OfferedCodec] {
    codecs.split(separator: ",").compactMap { name in
      switch name.lowercased() {
      case "opus": .opus
      case "pcmu": .pcmu
      case "pcma": .pcma
      default: nil
      }
    }
  }

  var packetFrames: Int { Int((frame ?? 10) * 48) }

  /// Requested bit rate in bit/s, or else the one that suits the packets.
  private var suitedBitrate: Int {
    bitrate ?? StreamConfiguration.suitedBitrate(forPacketsOf: packetFrames)
  }

  /// True if packets follow the network, as neither their duration nor a bit rate was requested.
  private var adaptsPackets: Bool { frame == nil && bitrate == nil }

  /// Stream of the preferred codec, without negotiation.
  var stream: StreamConfiguration {
    switch offeredCodecs.first {
    case .pcmu: return telephoneStream(.pcmu, payloadType: 0)
    case .pcma: return telephoneStream(.pcma, payloadType: 8)
    case .opus, nil: return opusStream
    }
  }

  private func telephoneStream(
    _ codec: StreamConfiguration.Codec,
    payloadType: UInt8
  ) -> StreamConfiguration {
    StreamConfiguration(
      codec: codec,
      sendPayloadType: payloadType,
      receivePayloadType: payloadType,
      ssrc: .random(in: 1...UInt32.max),
      seed: .random(in: 1...UInt64.max)
    )
  }

  private var opusStream: StreamConfiguration {
    var configuration = StreamConfiguration.opus(
      ssrc: .random(in: 1...UInt32.max),
      seed: .random(in: 1...UInt64.max),
      withCopies: fec
    )
    configuration.packetFrames = packetFrames
    configuration.bitrate = suitedBitrate
    configuration.complexity = complexity
    configuration.usesInBandRedundancy = fec
    configuration.adaptsPackets = fec && adaptsPackets
    configuration.usesDiscontinuousTransmission = dtx
    return configuration
  }

  func apply(to configuration: inout PhoneConfiguration) {
    configuration.codecs = offeredCodecs
    configuration.packetFrames = packetFrames
    configuration.bitrate = suitedBitrate
    configuration.adaptsPackets = adaptsPackets
    configuration.complexity = complexity
    configuration.usesRedundancy = fec
    configuration.usesVariableBitRate = vbr
    configuration.usesDiscontinuousTransmission = dtx
  }
}
