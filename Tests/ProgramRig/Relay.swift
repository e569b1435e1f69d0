import CRig
import Foundation
import MediaCore
import RealTime
package import Simulation
import Synchronization

/// An attacker on the path between two hosts, who sees each packet and may change, drop or add
/// some.
package protocol RelayAttacker: Sendable {
  /// Handles an IP packet from the host with the number `side`; returns the packets to carry in its
  /// place, each with the side that it seems to come from.
  ///
  /// Called on the relay's thread.
  func meet(_ packet: [UInt8], from side: Int) -> [(side: Int, packet: [UInt8])]
}

/// Two hosts on this machine, as network namespaces, and the network between them: packets go
/// through an `EmulatedNetwork` for each direction.
///
/// **Life cycle:** `stop` takes the namespaces away. Needs the right to make them (root).
package final class Relay {
  /// Names of the hosts' namespaces, as `ip netns` knows them.
  package let namespaces: [String]
  /// Addresses of the hosts.
  package static let addresses = ["10.77.0.1", "10.77.0.2"]
  private let descriptors: [Int32]
  private let thread: RealTimeThread
  /// Number of networks that this process has made.
  private static let count = Atomic(0)
  private let isStopping = StopFlag()

  private final class StopFlag: Sendable {
    let isSet = Atomic(false)
  }

  /// Makes the hosts and starts to carry packets between them.
  package init(
    _ conditions: NetworkConditions,
    seed: UInt64,
    attacker: (any RelayAttacker)? = nil
  ) throws {
    let process = ProcessInfo.processInfo.processIdentifier
    let number = Self.count.add(1, ordering: .relaxed).newValue
    let namespaces = ["a", "b"].map { "sidetone\(process)-\(number)\($0)" }
    self.namespaces = namespaces
    Self.removeLeftovers()
    var descriptors: [Int32] = []
    do {
      for (namespace, (own, other)) in zip(
        namespaces,
        [(Self.addresses[0], Self.addresses[1]), (Self.addresses[1], Self.addresses[0])]
      ) {
        try Self.ip("netns add \(namespace)")
        let descriptor = unsafe tunnel_open(namespace, "wire")
        guard descriptor >= 0 else {
          throw RigError("no TUN device: \(unsafe String(cString: strerror(-descriptor)))")
        }
        descriptors.append(descriptor)
        try Self.ip("-n \(namespace) link set lo up")
        try Self.ip("-n \(namespace) addr add \(own) peer \(other) dev wire")
        try Self.ip("-n \(namespace) link set wire up")
      }
    } catch {
      // Half a network is none.
      for descriptor in descriptors { close(descriptor) }
      for namespace in namespaces { try? Self.ip("netns delete \(namespace)") }
      throw error
    }
    self.descriptors = descriptors
    let isStopping = isStopping
    thread = try RealTimeThread(name: "relay", policy: .realTime) { [descriptors] in
      var queue = PacketQueue(conditions, seed: seed, attacker: attacker)
      while !isStopping.isSet.load(ordering: .acquiring) { queue.turn(descriptors) }
    }
  }

  // Hosts of a benchmark that was interrupted.
  private static func removeLeftovers() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")) ?? []
    for name in names where name.hasPrefix("sidetone") {
      guard let process = Int32(name.dropFirst("sidetone".count).prefix { $0.isNumber }),
        kill(process, 0) != 0
      else { continue }
      try? ip("netns delete \(name)")
    }
  }

  private static func ip(_ arguments: String) throws {
    try run("ip", arguments.split(separator: " ").map(String.init))
  }

  /// Ends both hosts.
  package func stop() {
    isStopping.isSet.store(true, ordering: .releasing)
    thread.join()
    for descriptor in descriptors { close(descriptor) }
    for namespace in namespaces { try? Self.ip("netns delete \(namespace)") }
  }
}

/// Packets under way between the hosts, in order of arrival.
private struct PacketQueue {
  private struct Packet {
    let arrival: MonotonicInstant
    let bytes: [UInt8]
  }

  private var networks: [EmulatedNetwork]
  private var underWay: [[Packet]] = [[], []]
  private var buffer = [UInt8](repeating: 0, count: 2_048)
  private let attacker: (any RelayAttacker)?

  init(_ conditions: NetworkConditions, seed: UInt64, attacker: (any RelayAttacker)?) {
    self.attacker = attacker
    networks = [2 &* seed, 2 &* seed &+ 1].map { EmulatedNetwork(conditions, seed: $0) }
  }

  /// Waits for the next packet to come in or to be due, and carries all that are.
  mutating func turn(_ descriptors: [Int32]) {
    let now = MonotonicClock.now()
    var wait: Int64 = 20_000_000
    for queue in underWay {
      if let first = queue.first { wait = min(wait, max(0, first.arrival.nanoseconds(since: now))) }
    }
    unsafe tunnel_wait(descriptors, UInt32(descriptors.count), wait)
    for side in 0..<2 {
      take(from: descriptors[side], direction: side)
      give(to: descriptors[1 - side], direction: side)
    }
  }

  private mutating func take(from descriptor: Int32, direction: Int) {
    while true {
      let length = unsafe read(descriptor, &buffer, buffer.count)
      guard length > 0 else { return }
      let packet = Array(buffer[0..<length])
      guard let attacker else {
        carry(packet, direction: direction)
        continue
      }
      for (side, packet) in attacker.meet(packet, from: direction) {
        carry(packet, direction: side)
      }
    }
  }

  private mutating func carry(_ bytes: [UInt8], direction: Int) {
    let fate = networks[direction].fate(sentAt: MonotonicClock.now(), byteCount: bytes.count)
    for arrival in [fate.arrival, fate.copy] {
      guard let arrival else { continue }
      let place = (underWay[direction].lastIndex { $0.arrival <= arrival }).map { $0 + 1 } ?? 0
      underWay[direction].insert(Packet(arrival: arrival, bytes: bytes), at: place)
    }
  }

  private mutating func give(to descriptor: Int32, direction: Int) {
    let now = MonotonicClock.now()
    let due = underWay[direction].prefix { $0.arrival <= now }
    for packet in due { _ = unsafe write(descriptor, packet.bytes, packet.bytes.count) }
    underWay[direction].removeFirst(due.count)
  }
}
