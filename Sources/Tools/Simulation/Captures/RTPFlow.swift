import MediaCore

/// Packets of one RTP source from one port to another, in the order of the capture.
struct RTPFlow {
  /// Ports and SSRC, which distinguish sources.
  struct Key: Hashable {
    let source: Endpoint
    let destination: Endpoint
    let ssrc: UInt32
  }

  struct Packet: BitwiseCopyable {
    var sequence: UInt16
    var payloadType: UInt8
    /// Bytes of payload; 255 stands for 255 and more.
    var payloadLength: UInt8
    var timestamp: UInt32
    /// Time of arrival, in nanoseconds.
    var arrival: Int64
  }

  let key: Key
  var packets: [Packet] = []
  /// Number of packets that the capturing machine sent; `incoming` counts those it received, as far
  /// as is recorded.
  var outgoing = 0
  var incoming = 0

  init(_ key: Key) { self.key = key }

  /// Returns the RTP packet in a datagram, whose end may be cut off; nil if there is none.
  static func packet(in datagram: CapturedDatagram) -> (ssrc: UInt32, packet: Packet)? {
    let bytes = datagram.payload
    let begin = bytes.startIndex
    guard bytes.count >= 12, bytes[begin] >> 6 == 2 else { return nil }
    let payloadType = bytes[begin + 1] & 0x7F
    // RTCP (RFC 5761 section 4).
    guard !(64...95).contains(payloadType) else { return nil }
    func word(_ offset: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[begin + offset + $1]) }
    }
    var header = 12 + 4 * Int(bytes[begin] & 0x0F)
    if bytes[begin] & 0x10 != 0, header + 4 <= bytes.count {
      header += 4 + 4 * (Int(bytes[begin + header + 2]) << 8 | Int(bytes[begin + header + 3]))
    }
    guard header <= datagram.length else { return nil }
    let packet = Packet(
      sequence: UInt16(truncatingIfNeeded: word(0)),
      payloadType: payloadType,
      payloadLength: UInt8(clamping: datagram.length - header),
      timestamp: word(4),
      arrival: 0
    )
    return (word(8), packet)
  }

  /// Payload types of telephone events (RFC 4733).
  ///
  /// Their packets have four bytes each, or a few more under encryption, and most repeat the
  /// timestamp of the one before.
  var eventTypes: Set<UInt8> {
    var kinds: [UInt8: (all: Int, repeated: Int, lengths: Set<UInt8>, timestamp: UInt32)] = [:]
    var most = 0
    for packet in packets {
      var found = kinds[packet.payloadType] ?? (0, 0, [], packet.timestamp)
      found.all += 1
      found.repeated += packet.timestamp == found.timestamp ? 1 : 0
      found.lengths.insert(packet.payloadLength)
      found.timestamp = packet.timestamp
      kinds[packet.payloadType] = found
      most = max(most, found.all)
    }
    let events = kinds.filter { type, kind in
      guard type >= 96, kind.lengths.count == 1, let length = kind.lengths.first,
        2 * kind.repeated >= kind.all
      else { return false }
      // Without other packets in the stream only what is a key's for certain.
      return length == 4 || (4...20).contains(length) && kind.all < most
    }
    return Set(events.keys)
  }

  /// True if the packets look like RTP: at least a third of the sequence numbers are close to the
  /// one before.
  var isPlausible: Bool {
    // Name servers' messages look like it.
    guard packets.count > 2, key.source.port != 53, key.destination.port != 53 else { return false }
    // Several interfaces may have seen each of them.
    let steps = zip(packets, packets.dropFirst())
      .map { abs(Int(Int16(bitPattern: $1.sequence &- $0.sequence))) }.filter { $0 != 0 }
    return !steps.isEmpty && 3 * steps.count { $0 < 100 } >= steps.count
  }

  /// Payload types that others interleave with, and whose packets have numbers of their own, as
  /// repair packets may (RFC 5109).
  var typesNumberedByThemselves: Set<UInt8> {
    var counts: [UInt8: (all: Int, far: Int, near: Int)] = [:]
    var newest: [UInt8: UInt16] = [:]
    var before: Packet?
    for packet in packets {
      let type = packet.payloadType
      var count = counts[type] ?? (0, 0, 0)
      count.all += 1
      func isFar(_ number: UInt16) -> Bool {
        abs(Int(Int16(bitPattern: packet.sequence &- number))) >= 100
      }
      if let before, before.payloadType != type, isFar(before.sequence) { count.far += 1 }
      if let number = newest[type], !isFar(number) { count.near += 1 }
      newest[type] = packet.sequence
      counts[type] = count
      before = packet
    }
    let main = counts.max { ($0.value.all, $1.key) < ($1.value.all, $0.key) }?.key
    let strangers = counts.filter { type, count in
      type != main && count.all > 3 && 2 * count.far > count.all && 2 * count.near > count.all
    }
    return Set(strangers.keys)
  }

  /// Returns the mean number of packets of a type that share a timestamp.
  func packetsPerTimestamp(of type: UInt8) -> Double {
    var (count, pictures) = (0, 0)
    var last: Packet?
    // A copy is none of the picture's.
    for packet in packets where packet.payloadType == type && packet.sequence != last?.sequence {
      count += 1
      pictures += packet.timestamp == last?.timestamp ? 0 : 1
      last = packet
    }
    return Double(count) / Double(max(1, pictures))
  }

  /// Returns the clock rate among `rates`, in hertz, that fits the timestamps of a payload type
  /// best: the delays spread least, without a trend; nil if none fits or there are too few packets.
  func clock(of type: UInt8, among rates: [Int]) -> Int? {
    let own = beginnings(of: type)
    let fits = rates.compactMap { rate -> (Int, Double)? in
      guard let fit = Fit(of: own, to: rate), fit.isPossible else { return nil }
      let isSure = !Self.rareRates.contains(rate) || abs(fit.trend) < fit.doubt + 0.002
      return isSure ? (rate, fit.spread) : nil
    }
    return fits.min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
  }

  /// True if the timestamps of a payload type cannot count `rate` ticks a second; false if there
  /// are less than two seconds of them, unless more than a hundred jump each time.
  ///
  /// A delay that grows, as while a queue fills, is no other clock.
  func contradicts(_ rate: Int, of type: UInt8) -> Bool {
    let own = beginnings(of: type)
    // Where each step is a jump there is nothing to fit.
    guard let fit = Fit(of: own, to: rate) else { return own.count > 100 }
    return fit.seconds > 2 && !fit.isPossible
      && !(0...StreamTimeline.steepestQueue).contains(fit.trend)
  }

  /// Rates of compact discs, which are rare: a queue that grows looks like them at 48 kHz.
  private static let rareRates: Set = [11_025, 22_050, 44_100, 88_200, 176_400]

  // The first packet of each picture, if it is video: the others are sent when there is room.
  private func beginnings(of type: UInt8) -> [Packet] {
    var own: [Packet] = []
    for packet in packets
    where packet.payloadType == type && packet.timestamp != own.last?.timestamp {
      own.append(packet)
    }
    return own
  }

  /// Delays of packets under an assumed clock rate.
  private struct Fit {
    /// Time in which the packets came, in seconds, without jumps.
    let seconds: Double
    /// Spread of the delays, in seconds.
    let spread: Double
    /// Growth of the delays, in seconds a second, and what jitter makes of it in a short time.
    let trend: Double
    let doubt: Double
    /// True if the delays neither grow nor fall all the time.
    var isPossible: Bool { abs(trend) < 0.04 + doubt }

    /// Computes the delays at `rate` ticks a second; nil if there are too few packets.
    init?(of packets: [Packet], to rate: Int) {
      var (sent, passed) = (0.0, 0.0)
      var points = [(at: 0.0, delay: 0.0)]
      // By how much the packets came too late at a jump, which those after a stall make up for.
      var owed = 0.0
      for (one, next) in zip(packets, packets.dropFirst()) {
        let ticks = Double(Int32(bitPattern: next.timestamp &- one.timestamp)) / Double(rate)
        let time = Double(next.arrival &- one.arrival) / 1e9
        guard time >= 0 else { continue }
        if owed > 0, time < ticks / 2 {
          owed -= ticks - time
          continue
        }
        owed = 0
        // A jump, a stall, or a pause in which the timestamps stood still.
        guard abs(time - ticks) < 0.5 + time / 5 else {
          owed = time - ticks
          continue
        }
        sent += ticks
        passed += time
        points.append((passed, passed - sent))
      }
      guard points.count > 4, passed > 0.08 else { return nil }
      seconds = passed
      // As many as it takes.
      let stride = max(1, points.count / 2_000)
      points = Swift.stride(from: 0, to: points.count, by: stride).map { points[$0] }
      let delays = points.map(\.delay).sorted()
      spread = delays[delays.count * 9 / 10] - delays[delays.count / 10]
      // Late packets at either end, or a stall anywhere, are no trend: the middles of the first and
      // the last part tell.
      let part = max(1, points.count / 4)
      func middle(_ points: ArraySlice<(at: Double, delay: Double)>) -> (at: Double, delay: Double)
      {
        let delays = points.map(\.delay).sorted()
        return (points[points.startIndex + points.count / 2].at, delays[delays.count / 2])
      }
      let (begin, end) = (middle(points.prefix(part)), middle(points.suffix(part)))
      let span = max(end.at - begin.at, 0.01)
      // The clock of a sender is not off by so much, and jitter has an end.
      trend = (end.delay - begin.delay) / span
      doubt = 0.1 / max(1, passed * passed)
    }
  }

  /// Sorts the packets by arrival if their sequence numbers are then more in order than in the
  /// file.
  ///
  /// Several files or queues may have been joined, or the clock may have been set.
  mutating func order() {
    guard zip(packets, packets.dropFirst()).contains(where: { $0.arrival > $1.arrival }) else {
      return
    }
    let sorted = packets.enumerated().sorted {
      ($0.element.arrival, $0.offset) < ($1.element.arrival, $1.offset)
    }.map(\.element)
    func inversions(_ packets: [Packet]) -> Int {
      zip(packets, packets.dropFirst()).count {
        Int16(bitPattern: $1.sequence &- $0.sequence) < 0
      }
    }
    if inversions(sorted) < inversions(packets) { packets = sorted }
  }
}
