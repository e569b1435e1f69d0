/// Departures and arrivals of a stream's packets, whatever its sender's clock and numbering did
/// meanwhile.
///
/// Departures follow the timestamps. If these jump, as at a transfer, they are aligned anew; a line
/// through the fastest packets shows a clock that runs fast or slow.
struct StreamTimeline {
  struct Entry {
    /// Number of the packet, which counts on through losses and restarts.
    var number: Int64
    /// Departure in milliseconds; that of an event makes its delay that of the voice before it.
    var departure: Double
    var arrival: Double
    /// False for an event, whose timestamp is that of its beginning and tells no delay.
    var isTimed = true
  }

  /// Packets in the order of their numbers, each once.
  private(set) var entries: [Entry] = []
  /// Number of runs of consecutive timestamps.
  private(set) var beginnings = 1
  /// Number of times that the sequence numbers started anew.
  private(set) var restarts = 0
  private(set) var duplicates = 0
  /// Packets that arrived after one with a higher number.
  private(set) var reordered = 0
  /// Deviation of the sender's clock from the capture's, in parts per million, positive if it is
  /// fast; nil if the capture is too short to tell.
  private(set) var skew: Double?

  /// Indices of entries at which another clock begins.
  private var changes: Set<Int> = []

  /// Step of the sequence numbers from which on they count anew.
  private static let farthest = 3_000
  /// Step from which on the timestamps and the time have to agree with it (RFC 3550 appendix A.1).
  private static let near = 100
  /// A change of the delay from one packet to the next, in milliseconds, that may be a jump of the
  /// timestamps.
  private static let leap = 500.0
  /// The same between two packets that arrived as far apart as others do, which no network made.
  private static let quietLeap = 60.0
  /// Largest deviation of a clock.
  private static let wildest = 0.001
  /// The longest delay that is no jump, in milliseconds.
  private static let longestSpike = 10_000.0

  init(_ flow: RTPFlow, events: Set<UInt8>, clockRate: (UInt8) -> Int) {
    var numbered: [(number: Int64, packet: RTPFlow.Packet)] = []
    var newest: Int64 = 0
    var last: RTPFlow.Packet?
    let usual = Self.usualTicks(of: flow)
    for packet in flow.packets {
      let step = last.map { Self.step(from: $0, to: packet, usual, clockRate) } ?? 1
      restarts += step == nil ? 1 : 0
      let number = newest + Int64(step ?? 1)
      numbered.append((number, packet))
      if number > newest || last == nil {
        newest = number
        last = packet
      }
    }
    numbered.sort { ($0.number, $0.packet.arrival) < ($1.number, $1.packet.arrival) }
    take(numbered, events, clockRate)
    // Of copies, the first one counts.
    var earliest = Double.infinity
    for entry in entries.reversed() {
      reordered += entry.arrival > earliest ? 1 : 0
      earliest = min(earliest, entry.arrival)
    }
    align()
    levelSkew()
  }

  // Ticks from a packet to the next where packets come without pauses, in the mean, as pictures of
  // video have many; nil if there are too few to tell.
  private static func usualTicks(of flow: RTPFlow) -> Double? {
    let run = 32
    var means: [Double] = []
    for index in stride(from: run, to: flow.packets.count, by: run) {
      let (first, last) = (flow.packets[index - run], flow.packets[index])
      let step = Int(Int16(bitPattern: last.sequence &- first.sequence))
      let ticks = Int(Int32(bitPattern: last.timestamp &- first.timestamp))
      guard (1...2 * run).contains(step), ticks > 0, first.payloadType == last.payloadType else {
        continue
      }
      means.append(Double(ticks) / Double(step))
    }
    return means.isEmpty ? nil : means.sorted()[means.count / 10]
  }

  // Step of the numbers from the newest packet to the next; nil if they start anew.
  //
  // A large one has to be what the timestamps and the time say as well. `usual` is that of
  // `usualTicks`.
  private static func step(
    from last: RTPFlow.Packet,
    to packet: RTPFlow.Packet,
    _ usual: Double?,
    _ clockRate: (UInt8) -> Int
  ) -> Int? {
    let step = Int(Int16(bitPattern: packet.sequence &- last.sequence))
    let ticks = Double(Int32(bitPattern: packet.timestamp &- last.timestamp))
    let rate = Double(clockRate(packet.payloadType))
    let arrived = Double(packet.arrival &- last.arrival) / 1e9
    if abs(step) < farthest {
      guard abs(step) >= near, let usual else { return step }
      let expected = Double(step) * usual
      // Packets of other lengths, and pauses. No packet is overtaken by two seconds of others.
      if (0.25...4).contains(ticks / expected), expected / rate > -2 { return step }
      if step > 0 { return arrived >= expected / rate / 4 ? step : nil }
    }
    // An outage of a minute and more, of packets of 2.5 to 120 ms.
    let missed = Int(packet.sequence &- last.sequence)
    let isOutage =
      missed >= farthest && abs(ticks / rate - arrived) < 2
      && (0.002...0.13).contains(ticks / rate / Double(missed))
    return isOutage ? missed : nil
  }

  private mutating func take(
    _ numbered: [(number: Int64, packet: RTPFlow.Packet)],
    _ events: Set<UInt8>,
    _ clockRate: (UInt8) -> Int
  ) {
    entries.reserveCapacity(numbered.count)
    var before: (packet: RTPFlow.Packet, departure: Double)?
    /// Events before the first packet of the voice.
    var untimed: [Int] = []
    for (number, packet) in numbered {
      guard number != entries.last?.number else {
        duplicates += 1
        continue
      }
      let arrival = Double(packet.arrival) / 1e6
      var departure = before?.departure ?? arrival
      let isTimed = !events.contains(packet.payloadType)
      if !isTimed {
        if let (other, then) = before {
          departure = then + Double(packet.arrival &- other.arrival) / 1e6
        } else {
          untimed.append(entries.count)
        }
      } else {
        if let (other, then) = before {
          let rate = clockRate(packet.payloadType)
          let ticks = Int32(bitPattern: packet.timestamp &- other.timestamp)
          if rate == clockRate(other.payloadType) {
            departure = then + Double(ticks) * 1_000 / Double(rate)
          } else {
            // Another codec counts from elsewhere.
            departure = then + Double(packet.arrival &- other.arrival) / 1e6
            changes.insert(entries.count)
          }
        }
        for index in untimed {
          entries[index].departure = departure - (arrival - entries[index].arrival)
        }
        untimed = []
        before = (packet, departure)
      }
      entries.append(
        Entry(number: number, departure: departure, arrival: arrival, isTimed: isTimed)
      )
    }
  }

  // A delay that changes at once, and for good, is a jump of the timestamps.
  private mutating func align() {
    var shift = 0.0
    var begin = 0
    let gaps = zip(entries, entries.dropFirst()).map { $1.arrival - $0.arrival }.sorted()
    let usual = gaps.isEmpty ? 0 : gaps[gaps.count / 2]
    for index in entries.indices {
      entries[index].departure += shift
      guard index > 0 else { continue }
      let delay = entries[index].arrival - entries[index].departure
      let former = entries[index - 1].arrival - entries[index - 1].departure
      let isChange = changes.contains(index)
      let gap = entries[index].arrival - entries[index - 1].arrival
      let isQuiet =
        entries[index].number == entries[index - 1].number + 1
        && abs(gap - usual) < max(5, usual / 2)
      let leap = isQuiet ? Self.quietLeap : Self.leap
      guard isChange || abs(delay - former) > leap else { continue }
      let before = least(entries[begin..<index].suffix(500).map { $0.arrival - $0.departure })
      var after: [Double] = []
      for (place, later) in entries[index...].enumerated() {
        // To the next codec.
        if place > 0, changes.contains(index + place) { break }
        // What follows has not been shifted yet.
        let departure =
          later.number == entries[index].number ? later.departure : later.departure + shift
        // To the next jump, which no network makes.
        if abs(later.arrival - departure - delay) > 2 * Self.longestSpike { break }
        after.append(later.arrival - departure)
        if later.arrival - entries[index].arrival > Self.longestSpike { break }
      }
      let difference = least(after) - before
      guard isChange || abs(difference) > leap else { continue }
      shift += difference
      entries[index].departure += difference
      beginnings += isChange ? 0 : 1
      begin = index
    }
  }

  private func least(_ values: [Double]) -> Double { values.min() ?? 0 }

  // A line through the fastest packets of each part, where there is one.
  private mutating func levelSkew() {
    guard let first = entries.first, let last = entries.last else { return }
    let span = last.departure - first.departure
    guard span > 1, max(span, last.arrival - first.arrival) >= 30_000 else { return }
    let parts = min(64, max(6, Int(span / 10_000)))
    var fastest: [(at: Double, delay: Double)?] = Array(repeating: nil, count: parts)
    for entry in entries {
      let part = (entry.departure - first.departure) / span * Double(parts)
      let place = Int(min(Double(parts - 1), max(0, part)))
      let delay = entry.arrival - entry.departure
      if delay < fastest[place]?.delay ?? .infinity { fastest[place] = (entry.departure, delay) }
    }
    let points = fastest.compactMap { $0 }
    var slopes: [Double] = []
    for (index, one) in points.enumerated() {
      for other in points[(index + 1)...] where other.at - one.at > span / 4 {
        slopes.append((other.delay - one.delay) / (other.at - one.at))
      }
    }
    guard slopes.count >= 6 else { return }
    slopes.sort()
    let slope = slopes[slopes.count / 2]
    func spread(_ slope: Double) -> Double {
      let rest = points.map { $0.delay - slope * ($0.at - first.departure) }.sorted()
      return rest[rest.count * 9 / 10] - rest[rest.count / 10]
    }
    // No clock is further off. Timestamps that count something else are, and lie on a line.
    if abs(slope) >= Self.wildest, spread(slope) > spread(0) / 20 { return }
    // A fast clock's packets seem to come earlier and earlier.
    skew = -slope * 1e6
    guard spread(slope) < spread(0) / 2 else {
      if abs(slope * span) > 1 { skew = nil }
      return
    }
    for index in entries.indices {
      entries[index].departure += slope * (entries[index].departure - first.departure)
    }
  }
}
