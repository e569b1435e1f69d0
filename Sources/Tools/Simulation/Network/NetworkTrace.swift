package import MediaCore

/// Delays and losses of a real network, recorded to be replayed again and again.
///
/// A text file with one line per packet: the times at which it was sent and at which it arrived, in
/// milliseconds of any two clocks, or `lost` instead of the latter; lines that begin with `#` are
/// comments. The fastest packet is assigned a delay of `baseNanoseconds`, since two clocks cannot
/// be compared.
package struct NetworkTrace: PacketPath, Equatable, Sendable {
  /// A reason why a file cannot be used.
  package enum ParseError: Error, Equatable, Sendable {
    /// The line with that number, counted from 1, has neither of the two forms.
    case unreadable(line: Int)
    /// No packet arrived.
    case empty
  }

  /// A packet: nanoseconds from the first departure to its own, and its delay beyond the fastest,
  /// nil if it was lost.
  struct Packet: Equatable, Sendable {
    var departure: Int64
    var delay: Int64?
  }

  let packets: [Packet]
  /// Delay added to that of every packet, in nanoseconds.
  package var baseNanoseconds: Int64 = 1_000_000
  private var place = 0
  private var begin: MonotonicInstant?
  /// Longest time after a recorded packet for which its outcome applies, in nanoseconds; a longer
  /// gap is a pause in the recording.
  private let moment: Int64

  /// Parses the lines of a trace.
  package init(parsing text: String) throws(ParseError) {
    var packets: [(departure: Double, arrival: Double?)] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let words = line.split { $0 == " " || $0 == "\t" || $0 == "," }
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      guard words.count == 2, let departure = Self.milliseconds(first) else {
        throw .unreadable(line: index + 1)
      }
      let arrival = Self.milliseconds(words[1])
      guard arrival != nil || words[1] == "lost" else { throw .unreadable(line: index + 1) }
      packets.append((departure, arrival))
    }
    self = try Self(Self.levelled(packets))
  }

  // One of the two clocks may run faster.
  private static func levelled(
    _ packets: [(departure: Double, arrival: Double?)]
  ) -> [(departure: Double, arrival: Double?)] {
    let sorted = packets.sorted { $0.departure < $1.departure }
    let arrived = sorted.compactMap { packet in
      packet.arrival.map { (departure: packet.departure, arrival: $0) }
    }
    let slope = StreamTimeline(arrived).levelledSlope
    guard slope != 0, let begin = arrived.first?.departure else { return packets }
    return sorted.map { ($0.departure + slope * ($0.departure - begin), $0.arrival) }
  }

  init(_ packets: [(departure: Double, arrival: Double?)]) throws(ParseError) {
    let sorted = packets.sorted { $0.departure < $1.departure }
    let fastest = sorted.compactMap { packet in packet.arrival.map { $0 - packet.departure } }.min()
    guard let fastest, let first = sorted.first else { throw .empty }
    // Packets of one picture leave together.
    let steps = zip(sorted, sorted.dropFirst()).map { $1.departure - $0.departure }
      .filter { $0 >= 1 }.sorted()
    let usual = steps.isEmpty ? 0 : steps[steps.count / 2]
    moment = Int64(min(60_000, max(5, 1.25 * usual)) * 1e6)
    self.packets = sorted.map { packet in
      Packet(
        departure: Int64(min(9e18, (packet.departure - first.departure) * 1e6)),
        delay: packet.arrival.flatMap { arrival in
          let delay = arrival - packet.departure - fastest
          return delay < Self.longestMilliseconds ? Int64(delay * 1e6) : nil
        }
      )
    }
  }

  /// Delay beyond the fastest packet, in milliseconds, from which on a packet counts as lost.
  private static let longestMilliseconds = 60_000.0

  private static func milliseconds(_ word: Substring) -> Double? {
    guard let value = Double(word), value.isFinite, abs(value) < 1e15 else { return nil }
    return value
  }

  // In a pause nothing is known: a packet is neither lost nor late because the last one before was.
  private func delay(at passed: Int64) -> Int64? {
    let last = packets[place]
    guard passed - last.departure > moment else { return last.delay }
    let former = packets[..<place].last { $0.delay != nil }?.delay
    let next = packets[(place + 1)...].first { $0.delay != nil }?.delay
    return [last.delay, former, next].compactMap { $0 }.min()
  }

  /// Returns the outcome of the packet that was sent last before `instant` in the recording, which
  /// repeats; in a pause, the best of those around it.
  package mutating func fate(sentAt instant: MonotonicInstant, byteCount: Int)
    -> EmulatedNetwork.DeliveryOutcome
  {
    let begin = begin ?? instant
    self.begin = begin
    let length = packets[packets.count - 1].departure + 20_000_000
    let passed = instant.nanoseconds(since: begin) % length
    if packets[place].departure > passed { place = 0 }
    while place + 1 < packets.count, packets[place + 1].departure <= passed { place += 1 }
    let delay = delay(at: passed).map { $0 + baseNanoseconds }
    return EmulatedNetwork.DeliveryOutcome(
      arrival: delay.map { instant.advanced(byNanoseconds: $0) },
      copy: nil
    )
  }
}
