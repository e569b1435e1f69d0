import Foundation
import MediaCore
import RTP

/// RTP streams in a capture of a machine's network, with the delays and losses of their packets.
///
/// Departures come from the RTP timestamps, arrivals from the capture, and losses from the gaps in
/// the numbering. The same frames give the same streams in the same order.
package struct PacketCapture {
  /// A reason why no stream can be chosen.
  package enum ChoiceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// There is no RTP over UDP, for these reasons.
    case noStream([String])
    /// No stream has that number or SSRC.
    case unknown(String, among: [String])
    /// Several streams match.
    case ambiguous([String])
    /// The stream has no delays: its packets have no times of a network, or its timestamps do not
    /// advance.
    case untimed(String)

    package var description: String {
      switch self {
      case .noStream(let reasons):
        "holds no RTP stream over UDP" + reasons.map { "; \($0)" }.joined()
      case .unknown(let name, let streams):
        "has no stream \(name):\n" + streams.joined(separator: "\n")
      case .untimed(let stream):
        "has no times of its packets:\n" + stream
      case .ambiguous(let streams):
        "has several streams; choose one with --stream NUMBER:\n" + streams.joined(separator: "\n")
      }
    }
  }

  /// Addresses of the hosts between which packets went.
  private struct Way: Hashable {
    let from: [UInt8]
    let to: [UInt8]
  }

  private var flows: [RTPFlow.Key: Int] = [:]
  private var sources: [RTPFlow] = []
  var described = DescribedFormats()
  /// Receiver reports by the SSRC that they are about, and by the hosts between which they were
  /// sent.
  private var reports: [UInt32: [Way: CapturedStream.Report]] = [:]
  /// True if the file ends within a packet.
  var isCutOff = false
  /// True if it was read up to damage in it.
  var isDamaged = false
  private var unknownLinks: Set<Int> = []
  private var fragments = 0
  private var tunnelled = 0
  private static let latest: Int64 = 4_000_000_000_000_000_000
  /// Largest number of SSRCs from one port to another; more mean encrypted traffic other than RTP.
  private static let mostSources = 1_024
  private static let mostFlows = 20_000
  private var sourceCounts: [[Endpoint]: Int] = [:]
  private var lastForgetting: Int64 = -1_000_000_001

  /// Creates an empty capture.
  package init() {}

  /// True if there are RTP streams.
  package var hasStreams: Bool { sources.contains(where: \.isPlausible) }

  /// True if there is something that another reader might read: frames of other link types, and
  /// fragments and tunnels, unless they are few.
  package var holdsMore: Bool {
    let read = sources.reduce(0) { $0 + ($1.isPlausible ? $1.packets.count : 0) }
    return !unknownLinks.isEmpty || 50 * (fragments + tunnelled) > read
  }

  /// Frames that could not be read, in words; empty if all could.
  package var obstacles: [String] {
    (fragments > 0 ? ["\(fragments) fragments of IP packets were left out"] : [])
      + (tunnelled > 0 ? ["\(tunnelled) packets in tunnels were left out"] : [])
      + (isCutOff ? ["its end is cut off"] : [])
      + (isDamaged ? ["it is damaged: what comes after is left out"] : [])
      + unknownLinks.sorted().map { "links of type \($0) cannot be read" }
  }

  /// Adds a frame captured at `nanoseconds` on a link of the pcap format's type `linkType`; frames
  /// without RTP are ignored.
  ///
  /// `isOutgoing` is true for a frame that the capturing machine sent; nil if that is not known.
  package mutating func add(
    frame bytes: [UInt8],
    linkType: Int,
    at nanoseconds: Int64,
    isOutgoing: Bool? = nil
  ) {
    switch CapturedFrame(bytes: bytes, linkType: linkType).content {
    case .datagram(var datagram):
      datagram.isOutgoing = datagram.isOutgoing ?? isOutgoing
      add(datagram, at: nanoseconds)
    case .segment(let text): described.note(text)
    case .fragment: fragments += 1
    case .tunnel: tunnelled += 1
    case .unknownLink: unknownLinks.insert(linkType)
    case .other: break
    }
  }

  mutating func add(_ captured: CapturedDatagram, at nanoseconds: Int64) {
    let datagram = captured.unwrapped
    // No clock of a capture is further off, and sums of such times fit.
    guard (0...Self.latest).contains(nanoseconds) else { return }
    guard let found = RTPFlow.packet(in: datagram) else { return addOther(datagram) }
    let ssrc = found.ssrc
    var packet = found.packet
    packet.arrival = nanoseconds
    let key = RTPFlow.Key(source: datagram.source, destination: datagram.destination, ssrc: ssrc)
    let index: Int
    if let known = flows[key] {
      index = known
    } else {
      let ports = [datagram.source, datagram.destination]
      guard sourceCounts[ports] ?? 0 < Self.mostSources else { return }
      if sources.count >= Self.mostFlows { forgetStrangers(before: nanoseconds) }
      guard sources.count < Self.mostFlows else { return }
      sourceCounts[ports, default: 0] += 1
      index = sources.count
      flows[key] = index
      sources.append(RTPFlow(key))
    }
    sources[index].packets.append(packet)
    if let isOutgoing = datagram.isOutgoing {
      sources[index].outgoing += isOutgoing ? 1 : 0
      sources[index].incoming += isOutgoing ? 0 : 1
    }
  }

  // What only looks like RTP, as answers of name servers may, comes once or twice.
  private mutating func forgetStrangers(before now: Int64) {
    guard now - lastForgetting > 1_000_000_000 else { return }
    lastForgetting = now
    sources.removeAll { source in
      source.packets.count < 3 && now - (source.packets.last?.arrival ?? 0) > 1_000_000_000
    }
    (flows, sourceCounts) = ([:], [:])
    for (place, source) in sources.enumerated() {
      flows[source.key] = place
      sourceCounts[[source.key.source, source.key.destination], default: 0] += 1
    }
  }

  private mutating func addOther(_ datagram: CapturedDatagram) {
    described.note(datagram.payload)
    let way = Way(from: datagram.source.address, to: datagram.destination.address)
    let bytes = Array(datagram.payload)
    guard bytes.count >= 8, bytes[0] >> 6 == 2 else { return }
    var reader = RTCPReader()
    let buffer = ByteBuffer(bytes)
    while let item = reader.next(in: buffer, length: bytes.count) {
      guard case .report(_, let block) = item else { continue }
      reports[block.ssrc, default: [:]][way] = CapturedStream.Report(
        lost: Int(block.cumulativeLost),
        jitter: Int(block.jitter)
      )
    }
  }

  /// Returns the streams, in the order of their first packets.
  ///
  /// `clockRate` is that of dynamic payload types, nil to measure it. It applies to video only if
  /// all streams are video.
  package func streams(clockRate: Int? = nil) -> [CapturedStream] {
    var found = sources.filter(\.isPlausible).compactMap { media(of: $0) }
    if let clockRate {
      let isForAll = found.allSatisfy(\.formats[0].format.isVideo)
      for index in found.indices { found[index].setClock(clockRate, ofVideo: isForAll) }
    }
    return found.enumerated().map { index, media in
      CapturedStream(
        number: index + 1,
        media.flow,
        formats: media.formats,
        events: media.events,
        report: report(about: media.flow.key)
      )
    }
  }

  /// A flow in the order of its packets, with the formats of their types.
  private struct Media {
    let flow: RTPFlow
    let events: Set<UInt8>
    var formats: [(payloadType: UInt8, format: MediaFormat, count: Int)]

    /// Sets the clock of dynamic types, of video only if that is asked for.
    mutating func setClock(_ rate: Int, ofVideo isForVideo: Bool) {
      for index in formats.indices where formats[index].format.origin != .payloadType {
        guard isForVideo || !formats[index].format.isVideo else { continue }
        formats[index].format.clockRate = rate
        formats[index].format.origin = .user
      }
      alignComfortNoise()
    }

    /// Gives comfort noise (payload type 13) the clock rate of the stream's main codec.
    mutating func alignComfortNoise() {
      guard let main = formats.first(where: { $0.payloadType != 13 })?.format else { return }
      for index in formats.indices where formats[index].payloadType == 13 {
        formats[index].format.clockRate = main.clockRate
      }
    }
  }

  // Nil for keys alone, which are no voice.
  private func media(of source: RTPFlow) -> Media? {
    var flow = source
    flow.order()
    let (here, there) = (flow.key.destination, flow.key.source)
    let keys = described.events(to: here, from: there)
    // What is described as something else is no key, however few bytes it has.
    let unsaid = flow.eventTypes.filter { described.format(of: $0, to: here, from: there) == nil }
    let events = unsaid.union(keys)
    var counts: [UInt8: Int] = [:]
    for packet in flow.packets where !events.contains(packet.payloadType) {
      counts[packet.payloadType, default: 0] += 1
    }
    let formats = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { type, count in
      (payloadType: type, format: format(of: type, in: flow), count: count)
    }
    guard !formats.isEmpty else { return nil }
    var media = Media(flow: flow, events: events, formats: formats)
    media.alignComfortNoise()
    return media
  }

  // Behind a router its own host is another one: then it has to be the only report, and none about
  // the other direction.
  private func report(about key: RTPFlow.Key) -> CapturedStream.Report? {
    let all = reports[key.ssrc] ?? [:]
    let (from, to) = (key.destination.address, key.source.address)
    if let own = all[Way(from: from, to: to)] { return own }
    return all.count == 1 && all[Way(from: to, to: from)] == nil ? all.first?.value : nil
  }

  private func format(of type: UInt8, in flow: RTPFlow) -> MediaFormat {
    let here = flow.key.destination
    let said =
      MediaFormat.ofStatic(type) ?? described.format(of: type, to: here, from: flow.key.source)
    if let said, !flow.contradicts(said.clockRate, of: type) { return said }
    let measured = MediaFormat.measured(flow.clock(of: type, among: MediaFormat.rates))
    // Pictures of many packets are video, however irregular they are.
    if said == nil, measured.origin == .assumed, flow.packetsPerTimestamp(of: type) > 1.5 {
      return MediaFormat(name: nil, clockRate: 90_000, origin: .assumed)
    }
    // That of another call at the same port, or of a sender that counts otherwise.
    guard let said, measured.origin == .assumed else { return measured }
    return said
  }

  /// Returns the voice stream that the capturing machine received, or the one with the number or
  /// SSRC `name`.
  package static func choose(
    among streams: [CapturedStream],
    named name: String?,
    obstacles: [String] = []
  ) throws(ChoiceError) -> CapturedStream {
    guard !streams.isEmpty else { throw .noStream(obstacles) }
    if let name {
      let named = streams.filter { "\($0.number)" == name || matches($0.ssrc, name) }
      if named.count == 1 { return named[0] }
      guard named.isEmpty else { throw .ambiguous(named.map(\.summary)) }
      throw .unknown(name, among: streams.map(\.summary))
    }
    let voices = streams.filter { !$0.format.isVideo }
    var left = voices.isEmpty ? streams : voices
    // What is known to have come by the network, however little; else what may have.
    let incoming = left.filter { $0.isOutgoing != true }
    if !incoming.isEmpty { left = incoming }
    let known = left.filter { $0.isOutgoing == false }
    if !known.isEmpty { left = known }
    // What has far fewer packets is a remainder of something else.
    let longest = left.max { ($0.received, $1.number) < ($1.received, $0.number) }
    left = left.filter { one in
      // The other direction may have pauses.
      4 * one.received >= longest?.received ?? 0
        || one.source == longest?.destination && one.destination == longest?.source
    }
    // So does the first of two sources of one port, as before a transfer.
    left = left.filter { one in
      !left.contains {
        $0.source == one.source && $0.destination == one.destination
          && $0.received > 2 * one.received
      }
    }
    guard let chosen = left.count == 2 ? received(left[0], left[1]) : left.first, left.count < 3
    else { throw .ambiguous(left.map(\.summary)) }
    guard chosen.duration > 0 else { throw .untimed(chosen.summary) }
    return chosen
  }

  private static func matches(_ ssrc: UInt32, _ name: String) -> Bool {
    // In JSON it is decimal.
    if name.lowercased().hasPrefix("0x") { return UInt32(name.dropFirst(2), radix: 16) == ssrc }
    return name.count > 5 && UInt32(name) == ssrc
  }

  // Of the two directions of a call the one that came by the network: what the capturing machine
  // sends has no losses, and less jitter. Nil if that does not tell.
  private static func received(_ one: CapturedStream, _ other: CapturedStream) -> CapturedStream? {
    guard one.source.address == other.destination.address,
      one.destination.address == other.source.address
    else { return nil }
    let (calm, shaken) = one.jitter.mean < other.jitter.mean ? (one, other) : (other, one)
    // Programs send with some jitter themselves.
    guard calm.lost == 0, calm.reordered == 0, !shaken.leavesInBlocks,
      shaken.lost > 0 && shaken.jitter.mean > 1.5 * calm.jitter.mean
        || shaken.jitter.mean > max(4, 4 * calm.jitter.mean)
    else { return nil }
    return shaken
  }
}
