/// A payload format by name and clock rate, with the source of that knowledge.
package struct MediaFormat: Equatable, Sendable {
  /// Sources of the clock rate.
  package enum Origin: String, Equatable, Sendable {
    /// By the static payload type (RFC 3551 section 6).
    case payloadType = "static type"
    /// By a session description in the same capture.
    case description = "session description"
    /// By the user.
    case user = "--clock"
    /// By the rate at which timestamps advance against the arrivals.
    case measured = "timestamps against arrivals"
    /// By assumption, as the capture is too short to tell.
    case assumed = "assumed"
  }

  /// The encoding's name in capital letters, nil if it is not known.
  package var name: String?
  /// Rate of the RTP timestamps, in ticks per second.
  package var clockRate: Int
  package var origin: Origin

  /// True if a session description says that it is audio.
  var isDescribedAsAudio = false

  /// True for video, whose clock rate is 90 kHz.
  package var isVideo: Bool { clockRate == 90_000 && name != "MPA" && !isDescribedAsAudio }

  private static let statics: [UInt8: (name: String, rate: Int)] = [
    0: ("PCMU", 8_000), 3: ("GSM", 8_000), 4: ("G723", 8_000), 5: ("DVI4", 8_000),
    6: ("DVI4", 16_000), 7: ("LPC", 8_000), 8: ("PCMA", 8_000), 9: ("G722", 8_000),
    10: ("L16", 44_100), 11: ("L16", 44_100), 12: ("QCELP", 8_000), 13: ("CN", 8_000),
    14: ("MPA", 90_000), 15: ("G728", 8_000), 16: ("DVI4", 11_025), 17: ("DVI4", 22_050),
    18: ("G729", 8_000), 25: ("CELB", 90_000), 26: ("JPEG", 90_000), 28: ("NV", 90_000),
    31: ("H261", 90_000), 32: ("MPV", 90_000), 33: ("MP2T", 90_000), 34: ("H263", 90_000),
  ]

  /// Clock rates of dynamic types that occur in practice.
  static let rates = [
    1_000, 8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 88_200, 90_000,
    96_000, 176_400, 192_000,
  ]

  /// Returns the format of a static payload type; nil for a dynamic one.
  static func ofStatic(_ payloadType: UInt8) -> MediaFormat? {
    statics[payloadType].map {
      MediaFormat(name: $0.name, clockRate: $0.rate, origin: .payloadType)
    }
  }

  /// Returns a format without a name at a measured clock rate; nil assumes Opus's 48 kHz.
  static func measured(_ rate: Int?) -> MediaFormat {
    MediaFormat(name: nil, clockRate: rate ?? 48_000, origin: rate == nil ? .assumed : .measured)
  }
}

/// Formats of payload types from session descriptions in a capture, by address and port.
struct DescribedFormats {
  /// Formats by the description's port, then its host, then the payload type.
  private var formats: [UInt16: [String: [UInt8: MediaFormat]]] = [:]

  /// Records the formats in a datagram, which may hold a SIP message.
  mutating func note(_ payload: ArraySlice<UInt8>) {
    // `INVITE sip:`, `SIP/2.0 200`: text. RTP begins with a byte above 127.
    guard let first = payload.first, (65...90).contains(first), payload.count > 100 else { return }
    let text = String(decoding: payload, as: UTF8.self)
    guard text.contains("m=") else { return }
    var port: UInt16?
    var isAudio = false
    var (host, sessionHost) = ("", "")
    let lines = text.split(whereSeparator: \.isNewline)
    // The last line may be cut off, within the digits of a rate as well.
    let isLastWhole = text.last?.isNewline ?? true
    for (place, line) in lines.enumerated() {
      if line.hasPrefix("m=") {
        let fields = line.split(separator: " ")
        port = fields.count > 3 ? UInt16(fields[1].prefix { $0 != "/" }) : nil
        host = sessionHost
        isAudio = line.hasPrefix("m=audio")
      }
      if line.hasPrefix("c=") {
        host = line.split(separator: " ").last.map { String($0.prefix { $0 != "/" }) } ?? ""
        if port == nil { sessionHost = host }
      }
      guard let port, line.hasPrefix("a=rtpmap:") else { continue }
      let fields = line.dropFirst("a=rtpmap:".count).split(separator: " ")
      guard fields.count == 2, let type = UInt8(fields[0]), type < 128 else { continue }
      let parts = fields[1].split(separator: "/")
      guard parts.count > 1, let rate = Int(parts[1]), (1...1_000_000).contains(rate),
        isLastWhole || place + 1 < lines.count || MediaFormat.rates.contains(rate)
      else { continue }
      formats[port, default: [:]][host, default: [:]][type] = MediaFormat(
        name: parts[0].uppercased(),
        clockRate: rate,
        origin: .description,
        isDescribedAsAudio: isAudio
      )
    }
  }

  /// Returns the format of a payload type in a stream between two ports; the receiver's description
  /// takes precedence.
  func format(of type: UInt8, to one: Endpoint, from other: Endpoint) -> MediaFormat? {
    types(of: one)[type] ?? types(of: other)[type]
  }

  /// Returns the payload types of telephone events in a stream between two ports.
  func events(to one: Endpoint, from other: Endpoint) -> Set<UInt8> {
    let all = types(of: one).merging(types(of: other)) { own, _ in own }
    return Set(all.filter { $1.name == "TELEPHONE-EVENT" }.keys)
  }

  // Behind a router the host that was named is another one: then the port has to be its only one.
  private func types(of endpoint: Endpoint) -> [UInt8: MediaFormat] {
    let hosts = formats[endpoint.port] ?? [:]
    return hosts[endpoint.host] ?? (hosts.count == 1 ? hosts.first?.value : nil) ?? [:]
  }
}
