import CVirtualTime
import Foundation
import MediaCore
import Simulation
import Testing
import UDPTransport

@testable import CallSecurity

/// Handshakes and the exchange of words behind them in virtual time, over networks that lose,
/// double, delay and reorder datagrams.
struct LossyHandshakeTests {
  /// A caller who waits and a callee who begins once the call is answered.
  private final class Call {
    private struct Datagram {
      let at: MonotonicInstant
      let bytes: [UInt8]
      let isForServer: Bool
    }

    private var server: MediaHandshake
    private var client: MediaHandshake
    private var networks: [EmulatedNetwork]
    private var underWay: [Datagram] = []
    private let serverAddress: SocketAddress
    private let clientAddress: SocketAddress
    /// Called for each datagram that leaves, with its number in its direction; true if it is lost.
    private let isLost: (_ toServer: Bool, _ number: Int) -> Bool
    /// Datagrams that have left, and of those that were lost since the last one that arrived,
    /// towards the server and from it.
    private var counts = [0, 0]
    private var lost = [0, 0]
    /// True if the network has lost everything of one direction, or the last twenty datagrams of
    /// it: where bursts are counted in packets, that may be nine of the ten seconds.
    var isCutOff: Bool { lost.contains { $0 >= 20 } || zip(counts, lost).contains { $0 == $1 } }
    private var now = MonotonicInstant(nanoseconds: 1_000_000_000) {
      didSet { virtual_time_set(now.nanoseconds) }
    }

    init(
      _ conditions: NetworkConditions,
      seed: UInt64,
      identities: (server: Identity, client: Identity),
      isLost: @escaping (_ toServer: Bool, _ number: Int) -> Bool = { _, _ in false }
    ) throws {
      serverAddress = try #require(SocketAddress(host: "192.0.2.1", port: 4_000))
      clientAddress = try #require(SocketAddress(host: "192.0.2.2", port: 5_000))
      virtual_time_set(now.nanoseconds)
      networks = [2 &* seed, 2 &* seed &+ 1].map { EmulatedNetwork(conditions, seed: $0) }
      self.isLost = isLost
      server = MediaHandshake(waitingWith: identities.server)
      client = try MediaHandshake(identities.client, towards: serverAddress)
      server.expect(
        .init(fingerprint: identities.client.fingerprint, exchangesWords: true),
        at: clientAddress,
        control: clientAddress
      )
      client.expect(
        .init(fingerprint: identities.server.fingerprint, exchangesWords: true),
        at: serverAddress,
        control: serverAddress
      )
      // The call has been answered, from there.
      server.admit(host: clientAddress.host, hasAnswered: true)
      client.admit(host: serverAddress.host, hasAnswered: true)
      server.hurry()
      client.hurry()
    }

    /// Milliseconds until both sides have keys and the same words; nil if that is not within ten
    /// seconds, which is as long as a phone waits.
    func milliseconds() -> Double? {
      defer { virtual_time_set(0) }
      let begin = now
      let end = begin.advanced(byNanoseconds: 10_000_000_000)
      var nextTick = begin
      while now < end {
        send()
        if let words = words(of: server), words == self.words(of: client) {
          return Double(now.nanoseconds(since: begin)) / 1e6
        }
        underWay.sort { $0.at < $1.at }
        if let next = underWay.first, next.at < nextTick {
          now = max(now, next.at)
          underWay.removeFirst()
          deliver(next)
        } else {
          now = nextTick
          nextTick = now.advanced(byNanoseconds: MediaHandshake.repeatNanoseconds)
          tick()
        }
      }
      return nil
    }

    private func tick() {
      // One that is secured goes on answering, and has no clock.
      if case .waiting = server.state { server.tick() }
      if case .waiting = client.state { client.tick() }
    }

    private func deliver(_ datagram: Datagram) {
      if datagram.isForServer {
        server.receive(.init(bytes: datagram.bytes, source: clientAddress))
      } else {
        client.receive(.init(bytes: datagram.bytes, source: serverAddress))
      }
    }

    private func send() {
      for datagram in client.takeOutgoing() { send(datagram.bytes, toServer: true) }
      for datagram in server.takeOutgoing() { send(datagram.bytes, toServer: false) }
    }

    private func send(_ bytes: [UInt8], toServer: Bool) {
      let direction = toServer ? 0 : 1
      counts[direction] += 1
      guard !isLost(toServer, counts[direction]) else { return }
      let fate = networks[direction].fate(sentAt: now, byteCount: bytes.count)
      lost[direction] = fate.arrival == nil ? lost[direction] + 1 : 0
      for at in [fate.arrival, fate.copy] {
        if let at { underWay.append(.init(at: at, bytes: bytes, isForServer: toServer)) }
      }
    }

    private func words(of handshake: borrowing MediaHandshake) -> [String]? {
      guard case .secured(let media) = handshake.state else { return nil }
      return media.encryption.words
    }
  }

  private static func identities() throws -> (server: Identity, client: Identity) {
    (try .make(), try .make())
  }

  /// Bursts of both kinds, counted in packets and in time; and those that `simulate` knows.
  private static let networks: [NetworkConditions] = {
    var doubling = NetworkConditions(
      "30 ms, 4 % in bursts",
      delayMilliseconds: 30,
      jitterMilliseconds: 5,
      lossShare: 0.04,
      lossBurst: 3
    )
    doubling.duplicateShare = 0.2
    doubling.reorderShare = 0.2
    let far = NetworkConditions(
      "80 ms, 12 % in bursts",
      delayMilliseconds: 80,
      jitterMilliseconds: 30,
      lossShare: 0.12,
      lossBurst: 3
    )
    let stalls = NetworkConditions(
      "stalls of a second",
      delayMilliseconds: 20,
      lossShare: 0.05,
      stallIntervalSeconds: 1,
      stallMilliseconds: 1_000
    )
    var outages = NetworkConditions("outages", delayMilliseconds: 10, lossShare: 0.3)
    outages.outages = [
      .init(second: 0.05, milliseconds: 1_500), .init(second: 2, milliseconds: 700),
    ]
    return [doubling, far, stalls, outages, .lossy10, .awful]
  }()

  /// `HANDSHAKES=200000` tries as many.
  private static let seeds =
    (ProcessInfo.processInfo.environment["HANDSHAKES"].flatMap { Int($0) } ?? 5_000)
    / networks.count

  @Test(arguments: networks)
  func everyCallIsSecured(network: NetworkConditions) throws {
    let identities = try Self.identities()
    var times: [Double] = []
    for seed in 1...UInt64(Self.seeds) {
      let call = try Call(network, seed: seed, identities: identities)
      let time = call.milliseconds()
      #expect(time != nil || call.isCutOff, "\(network.name), seed \(seed)")
      times.append(time ?? .infinity)
    }
    #expect(virtual_time_count() > 0, "OpenSSL asks the clock of this test")
    times.sort()
    let (median, late) = (times[times.count / 2], times[times.count * 99 / 100])
    print("\(network.name): median \(median) ms, 99 % \(late) ms, worst \(times.last ?? 0) ms")
  }

  /// Every datagram is doubled, and one is lost with its copy.
  ///
  /// A flight may then arrive twice, or the beginning of the words not at all.
  @Test(arguments: 1...8)
  func anyDatagramMayBeLost(number: Int) throws {
    var double = NetworkConditions("doubles everything", delayMilliseconds: 30)
    double.duplicateShare = 1
    for toServer in [true, false] {
      let call = try Call(double, seed: 1, identities: Self.identities()) { direction, count in
        direction == toServer && count == number
      }
      let time = call.milliseconds()
      #expect(time ?? .infinity < 1_500, "datagram \(number), to the server: \(toServer)")
    }
  }
}
