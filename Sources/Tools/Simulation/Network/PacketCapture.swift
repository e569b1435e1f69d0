import MediaCore
import RTP

/// The RTP packets in a capture of a receiving machine's network, and what the network had done to
/// them.
///
/// Departures come from the RTP timestamps, arrivals from the capture, and losses
/// by the gaps in the numbering. Of several sources the one with the most packets counts.
package struct PacketCapture {
  private struct Source {
    var extender = SequenceExtender()
    var timestamp: (raw: RTPTimestamp, ticks: Int64)?
    var clockRate: Int
    /// By extended sequence number: departure and arrival in milliseconds.
    var packets: [Int64: (departure: Double, arrival: Double)] = [:]
  }

  private var sources: [UInt32: Source] = [:]

  /// A capture of nothing.
  package init() {}

  /// Takes in a frame that was captured at `nanoseconds`, on a link that the pcap format numbers
  /// `linkType`; what is no RTP says nothing.
  package mutating func add(frame bytes: [UInt8], linkType: Int, at nanoseconds: Int64) {
    let frame = CapturedFrame(bytes: bytes, linkType: linkType)
    guard let payload = frame.datagram.map({ Array($0) }),
      let packet = RTPPacket(parsing: ByteBuffer(payload), length: payload.count)
    else { return }
    let header = packet.header
    // Static payload types count at 8 kHz but for music (RFC 3551); the dynamic ones are taken for
    // Opus.
    let clockRate = header.payloadType < 35 ? 8_000 : 48_000
    var source = sources[header.ssrc] ?? Source(clockRate: clockRate)
    let sequence = source.extender.extend(header.sequenceNumber)
    source.extender.accept(sequence)
    let ticks: Int64
    if let (raw, known) = source.timestamp {
      ticks = known + Int64(header.timestamp.ticks(since: raw))
    } else {
      ticks = 0
    }
    source.timestamp = (header.timestamp, ticks)
    let departure = Double(ticks) * 1_000 / Double(source.clockRate)
    if source.packets[sequence] == nil {
      source.packets[sequence] = (departure, Double(nanoseconds) / 1e6)
    }
    sources[header.ssrc] = source
  }

  /// What the network did to the packets; throws `empty` if there were not two of one source.
  package func trace() throws(NetworkTrace.ParseError) -> NetworkTrace {
    let source = sources.values.max { $0.packets.count < $1.packets.count }
    let numbers = source?.packets.keys.sorted() ?? []
    guard let source, let first = numbers.first, numbers.count > 1 else { throw .empty }
    var packets: [(departure: Double, arrival: Double?)] = []
    var previous = first
    for number in numbers {
      guard let packet = source.packets[number], let before = source.packets[previous] else {
        continue
      }
      let missing = number - previous - 1
      // Further apart than that it is another call.
      if missing > 0, missing < 3_000 {
        let step = (packet.departure - before.departure) / Double(missing + 1)
        for index in 1...missing { packets.append((before.departure + Double(index) * step, nil)) }
      }
      packets.append((packet.departure, packet.arrival))
      previous = number
    }
    return try NetworkTrace(packets)
  }
}
