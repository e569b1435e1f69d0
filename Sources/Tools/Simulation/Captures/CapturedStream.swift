import Foundation

/// An RTP stream in a capture: its format, the source of that knowledge, and the delays and losses
/// of its packets.
package struct CapturedStream: Sendable {
  /// Figures reported by the receiver (RTCP, RFC 3550 section 6.4.1).
  package struct Report: Equatable, Sendable {
    /// Packets lost in all.
    package var lost: Int
    /// Jitter in ticks of the stream's clock.
    package var jitter: Int
  }

  /// Number of the stream in the capture, from 1.
  package let number: Int
  package let source: Endpoint
  package let destination: Endpoint
  package let ssrc: UInt32
  /// Formats by the number of their packets, most first; telephone events are not included.
  package let formats: [(payloadType: UInt8, format: MediaFormat, count: Int)]
  /// True if the capturing machine sent it; nil if the capture does not record that.
  package let isOutgoing: Bool?
  /// Packets of DTMF digits (telephone events).
  package let keys: Int
  package let report: Report?
  let timeline: StreamTimeline

  /// The format of most packets.
  package var format: MediaFormat { formats[0].format }

  /// Number of captured packets, without duplicates.
  package var received: Int { timeline.entries.count }
  package var duplicates: Int { timeline.copies.count }
  package var reordered: Int { timeline.reordered }
  package var restarts: Int { timeline.restarts }
  package var beginnings: Int { timeline.beginnings }
  /// Deviation of the sender's clock from the capture's, in parts per million, positive if it is
  /// fast; nil if it is not known.
  package var skew: Double? { timeline.skew.flatMap { abs($0) > Self.wildSkew ? nil : $0 } }
  /// Packets that are missing between the first and the last.
  package let lost: Int
  /// Counts of runs of lost packets, by the length of the run.
  package let bursts: [Int: Int]
  /// Duration from the first arrival to the last, in seconds.
  package let duration: Double
  /// The jitter of RFC 3550 section 6.4.1 in milliseconds: its mean, its greatest value.
  package let jitter: (mean: Double, most: Double)
  /// The longest time between two packets that follow each other, in milliseconds.
  package let longestGap: Double
  /// True if packets come several at a time with the same pause in between, as a machine sends them
  /// by the period of its sound card: such jitter is no network's.
  let leavesInBlocks: Bool
  /// Delays beyond the fastest packet's in milliseconds, in ascending order.
  private let delays: [Double]

  /// Longest pause between packets, in nanoseconds; after a longer one the capture's clock was set.
  private static let longestPause: Int64 = 31_536_000_000_000_000

  /// The share of lost packets, 0 to 1.
  package var lossShare: Double { Double(lost) / Double(max(1, lost + received)) }

  init(
    number: Int,
    _ flow: RTPFlow,
    formats: [(payloadType: UInt8, format: MediaFormat, count: Int)],
    events: Set<UInt8>,
    report: Report?
  ) {
    self.number = number
    source = flow.key.source
    destination = flow.key.destination
    ssrc = flow.key.ssrc
    self.formats = formats
    self.report = report
    // A machine that passes packets on sees each of them both come and go.
    let isPassedOn = 10 * min(flow.outgoing, flow.incoming) > max(flow.outgoing, flow.incoming)
    isOutgoing =
      flow.outgoing + flow.incoming == 0 || isPassedOn ? nil : flow.outgoing > flow.incoming
    keys = flow.packets.count { events.contains($0.payloadType) }
    let rates = Dictionary(formats.map { ($0.payloadType, $0.format.clockRate) }) { one, _ in one }
    timeline = StreamTimeline(flow, events: events) { rates[$0] ?? formats[0].format.clockRate }
    var bursts: [Int: Int] = [:]
    for (one, next) in zip(timeline.entries, timeline.entries.dropFirst())
    where next.number > one.number + 1 {
      bursts[Int(next.number - one.number - 1), default: 0] += 1
    }
    self.bursts = bursts
    lost = bursts.reduce(0) { $0 + $1.key * $1.value }
    // Where the clock of the capture was set, no time has passed.
    let times = flow.packets.map(\.arrival)
    let gaps = zip(times, times.dropFirst()).map { $1 &- $0 }
      .filter { (0...Self.longestPause).contains($0) }
    duration = Double(gaps.reduce(0, &+)) / 1e9
    longestGap = Double(gaps.max() ?? 0) / 1e6
    let arrivals = timeline.entries.sorted { $0.place < $1.place }.map(\.arrival)
    leavesInBlocks = Self.areBlocks(zip(arrivals, arrivals.dropFirst()).map { $1 - $0 })
    // One that is so far off counts something else than its type says.
    let isOther = abs(timeline.skew ?? 0) > Self.wildSkew
    let scale = isOther ? 1 / max(1e-6, 1 - (timeline.skew ?? 0) / 1e6) : 1
    let isHurried = Self.isHurried(timeline, format: formats[0].format)
    jitter =
      isHurried
      ? (0, 0)
      : Self.jitter(of: flow, events: events, rates.mapValues { Double($0) * scale }, timeline)
    let all = timeline.entries.filter(\.isTimed).map { $0.arrival - $0.departure }.sorted()
    // Timestamps that jump again and again count nothing.
    let isRandom = timeline.beginnings > 20 && 10 * timeline.beginnings > timeline.entries.count
    let isStill = 2 * timeline.keepAlives.count > timeline.entries.count
    delays = isRandom || isHurried || isStill ? [] : all.map { $0 - all[0] }
  }

  /// Deviation in parts per million beyond that of any crystal: such timestamps count at another
  /// rate.
  private static let wildSkew = 20_000.0

  // A codec of a known clock has spoken eight times as long as its packets took, as after a replay
  // or a conversion without times: they are no network's. Some phones count six times too fast.
  private static func isHurried(_ timeline: StreamTimeline, format: MediaFormat) -> Bool {
    guard [.payloadType, .description, .user].contains(format.origin),
      let first = timeline.entries.first, let last = timeline.entries.last
    else { return false }
    let spoken = (last.departure - first.departure) / max(1e-6, 1 + timeline.levelledSlope)
    return spoken > max(2_000, 8 * (last.arrival - first.arrival))
  }

  // Packets at once, and then a pause that is always the same.
  private static func areBlocks(_ gaps: [Double]) -> Bool {
    let pauses = gaps.filter { $0 > 2 }.sorted()
    guard pauses.count > 10, 5 * pauses.count < 4 * gaps.count else { return false }
    return pauses[pauses.count * 9 / 10] - pauses[pauses.count / 10] < 2
  }

  /// False if the timestamps stand still, run backwards, are random or far from the times of
  /// arrival, and so tell no delays.
  package var hasDelays: Bool { !delays.isEmpty }

  /// Returns the delay beyond the fastest packet's, in milliseconds, within which a share of the
  /// packets arrived.
  package func delay(_ share: Double) -> Double {
    delays.isEmpty ? 0 : delays[min(delays.count - 1, Int(share * Double(delays.count)))]
  }

  /// Returns delays beyond the fastest packet in milliseconds, and the losses before them, over the
  /// seconds since the first packet.
  ///
  /// The result has about `most` packets, the most delayed of each of even steps, and each packet
  /// that follows a loss.
  package func moments(most: Int) -> [(second: Double, delay: Double, lost: Int)] {
    guard let first = timeline.entries.first else { return [] }
    let fastest = timeline.entries.map { $0.arrival - $0.departure }.min() ?? 0
    let step = max(1, timeline.entries.count / max(1, most))
    var number = first.number - 1
    var found: [(second: Double, delay: Double, lost: Int)] = []
    var latest: (second: Double, delay: Double, lost: Int)?
    for (index, entry) in timeline.entries.enumerated() {
      let lost = Int(entry.number - number - 1)
      number = entry.number
      let second = (entry.departure - first.departure) / 1_000
      let moment = (second, entry.arrival - entry.departure - fastest, lost)
      if lost > 0 {
        found.append(moment)
      } else if moment.1 >= latest?.delay ?? 0 {
        latest = moment
      }
      if index % step == step - 1, let moment = latest {
        found.append(moment)
        latest = nil
      }
    }
    return found + [latest].compactMap { $0 }
  }

  // In the order of arrival, as a receiver has it. Neither a copy nor a jump of the timestamps is
  // jitter.
  private static func jitter(
    of flow: RTPFlow,
    events: Set<UInt8>,
    _ rates: [UInt8: Double],
    _ timeline: StreamTimeline
  ) -> (mean: Double, most: Double) {
    var (value, sum, most, count) = (0.0, 0.0, 0.0, 0)
    var before: RTPFlow.Packet?
    for (place, packet) in flow.packets.enumerated()
    where !events.contains(packet.payloadType) && !timeline.copies.contains(place)
      && !timeline.strays.contains(place) && !timeline.keepAlives.contains(place)
    {
      defer { before = packet }
      if timeline.jumps.contains(place) { continue }
      guard let rate = rates[packet.payloadType] else { continue }
      guard let before, rates[before.payloadType] == rate else { continue }
      let ticks = Int32(bitPattern: packet.timestamp &- before.timestamp)
      let sent = Double(ticks) * 1_000 / rate
      let arrived = Double(packet.arrival &- before.arrival) / 1e6
      // Nor is what no network makes.
      guard packet.sequence != before.sequence, abs(arrived - sent) < StreamTimeline.longestSpike
      else { continue }
      count += 1
      value += (abs(arrived - sent) - value) / 16
      sum += value
      most = max(most, value)
    }
    return (sum / Double(max(1, count)), most)
  }

  /// Summary of the stream in one line.
  package var summary: String {
    let name = format.name ?? "type \(formats[0].payloadType)"
    let known = "\(name) at \(format.clockRate) Hz (\(format.origin.rawValue))"
    let figures = String(
      format: "%d packets in %.1f s, %.2f %% lost, ",
      received,
      duration,
      lossShare * 100
    )
    let late =
      hasDelays
      ? String(format: "jitter %.2f ms, delay up to %.1f ms (95 %%)", jitter.mean, delay(0.95))
      : "jitter and delay not known, as timestamps and times do not agree"
    let ssrc = String(format: "0x%08x", self.ssrc)
    return "\(number): \(source) to \(destination), SSRC \(ssrc), \(known), \(figures)\(late)"
  }

  /// Most lost packets that are replayed, two days of 20 ms.
  private static let mostReplayed = 10_000_000

  /// Returns the departures, delays and losses of the packets for replay; throws `empty` if there
  /// are fewer than two packets, or hardly any but lost ones.
  package func trace() throws(NetworkTrace.ParseError) -> NetworkTrace {
    guard timeline.entries.count > 1, lost <= Self.mostReplayed else { throw .empty }
    var packets: [(departure: Double, arrival: Double?)] = []
    packets.reserveCapacity(timeline.entries.count + lost)
    var before: StreamTimeline.Entry?
    let steps = zip(timeline.entries, timeline.entries.dropFirst())
      .filter { $1.number == $0.number + 1 }.map { $1.departure - $0.departure }.sorted()
    let usual = steps.isEmpty ? .infinity : steps[steps.count / 2]
    for entry in timeline.entries {
      if let before {
        let missing = Int(entry.number - before.number - 1)
        // A pause is no part of a loss before it.
        let step = min(usual, (entry.departure - before.departure) / Double(missing + 1))
        for index in 0..<missing {
          packets.append((before.departure + Double(index + 1) * step, nil))
        }
      }
      packets.append((entry.departure, entry.arrival))
      before = entry
    }
    return try NetworkTrace(packets)
  }
}
