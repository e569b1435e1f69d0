/// Departures and arrivals of a stream's packets, corrected for jumps and drift of the sender's
/// clock and for restarts of its numbering.
///
/// Departures follow the timestamps. If these jump, as at a transfer, they are aligned anew; a line
/// through the fastest packets shows a clock that runs fast or slow.
struct StreamTimeline {
  struct Entry {
    /// Number of the packet, which counts on through losses and restarts.
    var number: Int64
    /// Departure in milliseconds; that of an event is set so that its delay equals that of the
    /// voice before it.
    var departure: Double
    var arrival: Double
    /// Index of the packet in the flow.
    var place: Int
    /// False for an event, whose timestamp is that of its beginning and tells no delay.
    var isTimed = true
  }

  /// Packets in the order of their numbers, each once.
  private(set) var entries: [Entry] = []
  /// Number of runs of consecutive timestamps.
  private(set) var beginnings = 1
  /// Number of times that the sequence numbers started anew.
  private(set) var restarts = 0
  /// Indices in the flow of duplicates.
  private(set) var copies: Set<Int> = []
  /// Indices in the flow at which the timestamps, or the clock of the capture, jumped.
  private(set) var jumps: Set<Int> = []
  /// Indices in the flow of packets that fit nowhere by their numbers and their timestamps.
  private(set) var strays: Set<Int> = []
  /// Indices in the flow of packets that repeat the timestamp before them after a pause, to keep a
  /// router's port open: they tell no delay.
  private(set) var keepAlives: Set<Int> = []
  /// Number of packets that came after one with a higher number.
  private(set) var reordered = 0
  /// Deviation of the sender's clock from the capture's, in parts per million, positive if it is
  /// fast; nil if the capture is too short to tell.
  private(set) var skew: Double?

  /// Growth of the delays that was taken out, as a fraction: that of a clock.
  private(set) var levelledSlope = 0.0

  /// Indices of entries at which another clock begins.
  private var changes: Set<Int> = []

  /// Step of the sequence numbers from which on the numbering has restarted, unless the time that
  /// passed shows an outage (`MAX_DROPOUT` of RFC 3550 appendix A.1).
  private static let farthest = 3_000
  /// Step of the sequence numbers from which on it counts only if timestamps and arrival times
  /// agree with it, as `MAX_MISORDER` of RFC 3550 appendix A.1.
  private static let near = 100
  /// A change of the delay from one packet to the next, in milliseconds, that may be a jump of the
  /// timestamps.
  private static let leap = 500.0
  /// The same for consecutive packets that arrived at the usual interval, which rules out the
  /// network.
  private static let quietLeap = 60.0
  /// Largest deviation of a clock, as a fraction.
  private static let wildest = 0.001
  /// Steepest growth of the delay, as a fraction, that may be a queue's.
  static let steepestQueue = 0.15
  /// Time in nanoseconds after which a repeated packet is not a duplicate but the beginning of a
  /// loop, if others follow.
  private static let latestCopy: Int64 = 1_000_000_000
  /// Smallest step back of the capture's clock, in nanoseconds, that means it was set.
  private static let setBack: Int64 = 1_000_000
  /// The longest delay that is no jump, in milliseconds.
  static let longestSpike = 10_000.0
  /// The same after a stall, whose queue may stand for long before it drains.
  private static let longestStall = 60_000.0
  /// Time in milliseconds that has to follow a stall, to tell that its delay is for good.
  private static let shortestRest = 2_000.0

  /// Number of packets after a stall whose equal delay shows that no queue drains.
  private static let steadyCount = 10

  /// Pause, in nanoseconds, after which a repeated timestamp is that of a keep-alive.
  ///
  /// The packets of a picture, which share a timestamp, follow each other at once.
  private static let keepAlivePause: Int64 = 200_000_000

  /// Most packets that an outage may lose, six hours of 20 ms; more are another beginning.
  private static let longestOutage = 1_100_000

  private typealias Numbered = (number: Int64, place: Int, packet: RTPFlow.Packet)

  /// Packets of known departures, in milliseconds, of which none is missing.
  init(_ times: [(departure: Double, arrival: Double)]) {
    entries = times.enumerated().map { place, time in
      Entry(
        number: Int64(place),
        departure: time.departure,
        arrival: time.arrival,
        place: place
      )
    }
    levelSkew()
  }

  init(_ flow: RTPFlow, events: Set<UInt8>, clockRate: (UInt8) -> Int) {
    let events = Self.advances(flow, events) ? events : Set(0...127)
    var numbered = numbers(of: flow, clockRate)
    // Of copies, the first one counts.
    numbered.sort { ($0.number, $0.place) < ($1.number, $1.place) }
    take(numbered, events, clockRate)
    var earliest = Int.max
    for entry in entries.reversed() {
      reordered += entry.place > earliest ? 1 : 0
      earliest = min(earliest, entry.place)
    }
    // In the order of the packets time runs back only where the clock was set.
    let order = entries.indices.sorted { entries[$0].place < entries[$1].place }
    var next = 0
    for (place, pair) in zip(flow.packets, flow.packets.dropFirst()).enumerated()
    where pair.0.arrival &- pair.1.arrival > Self.setBack {
      while next < order.count, entries[order[next]].place <= place { next += 1 }
      if next < order.count { changes.insert(order[next]) }
    }
    align()
    levelSkew()
  }

  // False if the timestamps of a second and more stand still, or run backwards: they tell no delay.
  private static func advances(_ flow: RTPFlow, _ events: Set<UInt8>) -> Bool {
    let media = flow.packets.filter { !events.contains($0.payloadType) }
    guard let first = media.first, let last = media.last,
      last.arrival &- first.arrival > 1_000_000_000
    else { return true }
    let steps = zip(media, media.dropFirst())
      .map { Int(Int32(bitPattern: $1.timestamp &- $0.timestamp)) }
    return steps.contains { $0 > 0 } && 2 * steps.count { $0 < 0 } < steps.count
  }

  private mutating func numbers(
    of flow: RTPFlow,
    _ clockRate: (UInt8) -> Int
  ) -> [Numbered] {
    let packets = flow.packets
    var numbered: [Numbered] = []
    var newest: Int64 = 0
    var last: RTPFlow.Packet?
    /// The newest packet before the last one, and its number.
    var former: (number: Int64, packet: RTPFlow.Packet)?
    /// Timestamps and arrivals of the last numbers.
    var recent: [Int64: (timestamp: UInt32, arrival: Int64)] = [:]
    let usual = Self.usualTicks(of: flow)
    let strangers = flow.typesNumberedByThemselves
    for (place, packet) in packets.enumerated() where !strangers.contains(packet.payloadType) {
      var step = last.map { Self.step(from: $0, to: packet, usual, clockRate) } ?? 1
      var isRepeated = false
      // What has been there with another timestamp, or long ago as in a loop, is no copy.
      if let known = step, known <= 0, let before = recent[newest + Int64(known)],
        before.timestamp != packet.timestamp || packet.arrival &- before.arrival > Self.latestCopy
      {
        step = nil
        isRepeated = true
      }
      if step == nil, let last, !Self.goesOn(from: place, in: packets, not: last) {
        // A straggler, as what follows goes on as before.
        let late = Int(Int16(bitPattern: packet.sequence &- last.sequence))
        guard newest + Int64(late) >= numbered.first?.number ?? 0,
          Self.isLate(packet, behind: last, by: late, usual)
        else {
          strays.insert(place)
          continue
        }
        step = late
      } else if step == nil, !isRepeated, let (number, before) = former,
        case (1..<Self.near)? = Self.step(from: before, to: packet, usual, clockRate)
      {
        // The last one had overtaken all that was held back, and what follows goes on before it.
        (newest, last) = (number, before)
        step = Self.step(from: before, to: packet, usual, clockRate)
      }
      restarts += step == nil ? 1 : 0
      let number = newest + Int64(step ?? 1)
      numbered.append((number, place, packet))
      if number > newest || last == nil {
        former = last.map { (newest, $0) }
        newest = number
        last = packet
        recent[number] = (packet.timestamp, packet.arrival)
        recent[number - Int64(Self.near)] = nil
      }
    }
    return numbered
  }

  // True if the timestamp of a packet is as far back as its number.
  private static func isLate(
    _ packet: RTPFlow.Packet,
    behind last: RTPFlow.Packet,
    by step: Int,
    _ usual: Double?
  ) -> Bool {
    let ticks = Double(Int32(bitPattern: packet.timestamp &- last.timestamp))
    guard step <= 0, ticks <= 0 else { return false }
    guard step < -near, let usual else { return true }
    return (0.25...4).contains(ticks / (Double(step) * usual))
  }

  // True if most of what follows a packet counts on from it, and not from the one before.
  private static func goesOn(
    from place: Int,
    in packets: [RTPFlow.Packet],
    not last: RTPFlow.Packet
  ) -> Bool {
    let new = packets[place]
    var (after, before) = (0, 0)
    for packet in packets[(place + 1)...].prefix(16) {
      let steps = [new, last].map { Int(Int16(bitPattern: packet.sequence &- $0.sequence)) }
      let ticks = [new, last].map { Int(Int32(bitPattern: packet.timestamp &- $0.timestamp)) }
      let isNear = (0..<2).map { abs(steps[$0]) < near && (steps[$0] > 0) == (ticks[$0] > 0) }
      // Where numbers tell nothing, as after a small step, timestamps do.
      let isNew = isNear[0] && (!isNear[1] || abs(ticks[0]) < abs(ticks[1]))
      after += isNew ? 1 : 0
      before += isNear[1] && !isNew ? 1 : 0
    }
    return after >= before
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
    let missed = Int(packet.sequence &- last.sequence)
    if let usual, abs(ticks / rate - arrived) < 2 {
      let turns = Self.turns(of: ticks / usual, missing: Double(missed))
      if turns > 0 { return missed + 65_536 * turns }
    }
    if abs(step) < farthest {
      guard let usual else { return step }
      // A few numbers may be lost while the timestamps go elsewhere, but not some dozen in no time.
      let isSudden =
        step > 8 && abs(ticks / rate - arrived) > 2 && arrived < Double(step) * usual / rate / 2
      guard abs(step) >= near || isSudden else { return step }
      let expected = Double(step) * usual
      // Packets of other lengths, and pauses. No packet is overtaken by two seconds of others.
      if (0.25...4).contains(ticks / expected), expected / rate > -2 { return step }
      // Timestamps that have gone elsewhere meanwhile are those of another beginning.
      let isInTime = abs(ticks / rate - arrived) < 2
      if step > 0 { return isInTime && arrived >= expected / rate / 4 ? step : nil }
    }
    // A long outage, of packets of 0.25 to 120 ms: timestamps and time say the same.
    guard missed >= farthest, abs(ticks / rate - arrived) < 2,
      (0.000_25...0.13).contains(ticks / rate / Double(missed))
    else { return nil }
    return missed
  }

  // Times that the numbers have wrapped around in an outage of `packets` by its timestamps; 0
  // unless these fit well, as pauses have timestamps without numbers.
  private static func turns(of packets: Double, missing: Double) -> Int {
    guard (60_000...Double(longestOutage)).contains(packets) else { return 0 }
    let turns = ((packets - missing) / 65_536).rounded()
    return abs(turns * 65_536 + missing - packets) < 200 ? Int(max(0, turns)) : 0
  }

  private mutating func take(
    _ numbered: [Numbered],
    _ events: Set<UInt8>,
    _ clockRate: (UInt8) -> Int
  ) {
    entries.reserveCapacity(numbered.count)
    var before: (packet: RTPFlow.Packet, departure: Double)?
    /// Events before the first packet of the voice.
    var untimed: [Int] = []
    for (number, place, packet) in numbered {
      guard number != entries.last?.number else {
        copies.insert(place)
        continue
      }
      let arrival = Double(packet.arrival) / 1e6
      var departure = before?.departure ?? arrival
      var isTimed = !events.contains(packet.payloadType)
      if isTimed, let (other, _) = before, packet.timestamp == other.timestamp,
        packet.arrival &- other.arrival > Self.keepAlivePause
      {
        keepAlives.insert(place)
        isTimed = false
      }
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
        Entry(
          number: number,
          departure: departure,
          arrival: arrival,
          place: place,
          isTimed: isTimed
        )
      )
    }
  }

  // A delay that changes at once, and for good, is a jump of the timestamps.
  private mutating func align() {
    var shift = 0.0
    var begin = 0
    var recent = RecentLeast(milliseconds: 2 * Self.longestStall)
    // A capture in which every packet might be a jump is looked through no further.
    var effort = 20_000_000
    let gaps = zip(entries, entries.dropFirst()).map { $1.arrival - $0.arrival }.sorted()
    let usual = gaps.isEmpty ? 0 : gaps[gaps.count / 2]
    let lengths = zip(entries, entries.dropFirst())
      .map { ($1.departure - $0.departure) / Double($1.number - $0.number) }.sorted()
    let length = lengths.isEmpty ? 0 : lengths[lengths.count / 2]
    for index in entries.indices {
      entries[index].departure += shift
      guard index > 0 else { continue }
      let delay = entries[index].arrival - entries[index].departure
      let former = entries[index - 1].arrival - entries[index - 1].departure
      recent.add(former, at: entries[index - 1].departure)
      let isChange = changes.contains(index)
      let gap = entries[index].arrival - entries[index - 1].arrival
      let isQuiet =
        entries[index].number == entries[index - 1].number + 1
        && abs(gap - usual) < max(5, usual / 2)
      let leap = isQuiet ? Self.quietLeap : Self.leap
      guard isChange || abs(delay - former) > leap else { continue }
      // Nothing came for a while, and the timestamps go on: a stall, unless it is for good.
      let sent = entries[index].departure - entries[index - 1].departure
      let count = Double(entries[index].number - entries[index - 1].number)
      let isStall = !isChange && delay > former && sent >= 0 && sent < 4 * max(usual, 1) * count
      // Timestamps that go on with the numbers over a loss have not jumped: it is another path.
      if isStall, count > 1, abs(sent - length * count) < max(1, length / 4) { continue }
      let spike = isStall ? Self.longestStall : Self.longestSpike
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
        effort -= 1
        if effort < 0, place > 500 { break }
        if later.arrival - entries[index].arrival > spike { break }
      }
      let difference = least(after) - before
      guard isChange || abs(difference) > leap else { continue }
      // Back to where it was before a queue.
      if !isChange, difference < 0, recent.least < least(after) + leap { continue }
      // Too little follows to tell that it is for good, unless a queue would have drained.
      let isSteady =
        after.count > Self.steadyCount && after[0] - after[after.count - 1] < Self.quietLeap
      if isStall, !isSteady,
        entries[index].arrival + Self.shortestRest > entries[entries.count - 1].arrival
      {
        continue
      }
      shift += difference
      entries[index].departure += difference
      jumps.insert(entries[index].place)
      beginnings += isChange ? 0 : 1
      begin = index
      recent = RecentLeast(milliseconds: 2 * Self.longestStall)
    }
  }

  private func least(_ values: [Double]) -> Double { values.min() ?? 0 }

  // A line through the fastest packets of each part, where there is one.
  private mutating func levelSkew() {
    guard let first = entries.first, let last = entries.last,
      entries.contains(where: \.isTimed)
    else { return }
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
    // No clock is further off: a queue grows. Timestamps that count something else lie on a line.
    let isOther = abs(slope) >= Self.wildest
    if isOther, (0...Self.steepestQueue).contains(slope) || spread(slope) > spread(0) / 20 {
      return
    }
    // A fast clock's packets seem to come earlier and earlier.
    skew = -slope * 1e6
    guard spread(slope) < spread(0) / 2 else {
      if abs(slope * span) > 1 { skew = nil }
      return
    }
    levelledSlope = slope
    for index in entries.indices {
      entries[index].departure += slope * (entries[index].departure - first.departure)
    }
  }
}

/// Sliding minimum: the least of the values of the last `milliseconds`.
private struct RecentLeast {
  private let milliseconds: Double
  /// Candidates for the minimum in ascending order, oldest first, from index `first` on.
  private var values: [(at: Double, value: Double)] = []
  private var first = 0

  init(milliseconds: Double) { self.milliseconds = milliseconds }

  /// Smallest value; infinity if there is none.
  var least: Double { first < values.count ? values[first].value : .infinity }

  mutating func add(_ value: Double, at time: Double) {
    while values.count > first, values[values.count - 1].value >= value { values.removeLast() }
    values.append((time, value))
    while values[first].at < time - milliseconds { first += 1 }
    guard first > 1_000, 2 * first > values.count else { return }
    values.removeFirst(first)
    first = 0
  }
}
