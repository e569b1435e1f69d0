import MediaCore
import Simulation

/// The network of a call, with a direction to each port.
struct Network: Sendable {
  private let conditions: NetworkConditions
  private let seed: UInt64
  private let begin: MonotonicInstant
  private var directions: [UInt16: Direction] = [:]
  /// Ports that only this machine reaches, as behind a router that opens nothing.
  var closedPorts: Set<UInt16> = []

  init(_ conditions: NetworkConditions, seed: UInt64, from begin: MonotonicInstant) {
    self.conditions = conditions
    self.seed = seed
    self.begin = begin
  }

  /// Returns the arrival in nanoseconds of datagram 0, or of its copy 1; -1 for none.
  mutating func arrival(at now: Int64, _ port: UInt16, _ length: Int, _ number: CInt) -> Int64 {
    if closedPorts.contains(port) { return -1 }
    let new = newDirection
    return directions[port, default: new].arrival(at: now, length, number)
  }

  private var newDirection: Direction {
    let seed = 100 &* seed &+ UInt64(directions.count)
    return Direction(EmulatedNetwork(conditions, seed: seed), from: begin)
  }

  /// Numbers of datagrams that each direction has lost in a row at most, added up.
  var longestLosses: Int { directions.values.reduce(0) { $0 + $1.longestLoss } }
}

/// One direction, and what became of its datagrams.
struct Direction: Sendable {
  private var network: EmulatedNetwork
  private var copy: MonotonicInstant?
  /// Datagrams lost in a row, now and at most.
  private var lost = 0
  private(set) var longestLoss = 0

  init(_ network: EmulatedNetwork, from begin: MonotonicInstant) {
    self.network = network
    // Its outages are counted from the first datagram.
    _ = self.network.fate(sentAt: begin, byteCount: 0)
  }

  mutating func arrival(at now: Int64, _ length: Int, _ number: CInt) -> Int64 {
    if number == 1 { return copy?.nanoseconds ?? -1 }
    let instant = MonotonicInstant(nanoseconds: now)
    let fate = network.fate(sentAt: instant, byteCount: length)
    copy = fate.copy
    lost = fate.arrival == nil ? lost + 1 : 0
    longestLoss = max(longestLoss, lost)
    return fate.arrival?.nanoseconds ?? -1
  }
}
