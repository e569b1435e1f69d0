import MediaCore
import Simulation

/// An emulated network as a live call meets it: behind an encoder that takes its time, and through
/// a relay whose thread wakes late now and then, for taking a packet and for giving it.
struct LivePath: PacketPath {
  private var network: EmulatedNetwork
  private var generator: SeededGenerator
  private let delays: [Double]
  private let share: Double
  private let encoding: EncodingTime
  private var last: MonotonicInstant?
  private var lastMade: MonotonicInstant?
  private var lastLeft: MonotonicInstant?

  /// Longest sound that a packet can hold, in nanoseconds.
  private static let longestPacket: Int64 = 20_000_000

  /// The relay wakes late in that share of cases, by one of `delays` in milliseconds.
  init(
    _ network: EmulatedNetwork,
    after encoding: EncodingTime,
    late share: Double,
    by delays: [Double],
    seed: UInt64
  ) {
    self.network = network
    self.encoding = encoding
    self.share = delays.isEmpty ? 0 : share
    self.delays = delays
    generator = SeededGenerator(seed: seed)
  }

  mutating func fate(sentAt instant: MonotonicInstant, byteCount: Int)
    -> EmulatedNetwork.DeliveryOutcome
  {
    let sound = lastMade.map { min(instant.nanoseconds(since: $0), Self.longestPacket) } ?? 0
    lastMade = instant
    let made = instant.advanced(byNanoseconds: Int64(encoding.shareOfSound * Double(sound)))
    let left = max(made, lastLeft ?? made)
    lastLeft = left
    var fate = network.fate(sentAt: left, byteCount: byteCount)
    guard let arrival = fate.arrival else { return fate }
    let late = lateness() + lateness()
    // A late thread gives what is due meanwhile in its order.
    let given = max(arrival.advanced(byNanoseconds: Int64(late * 1e6)), last ?? arrival)
    last = given
    fate.arrival = given
    return fate
  }

  private mutating func lateness() -> Double {
    guard share > 0, generator.unit() < share else { return 0 }
    return delays[Int(generator.unit() * Double(delays.count))]
  }
}
