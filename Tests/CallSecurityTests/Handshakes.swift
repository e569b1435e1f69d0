import MediaCore
import Simulation
import Testing
import UDPTransport

@testable import CallSecurity
@testable import SRTP

/// The handshake that the callee makes from one of its ports.
final class OtherPort {
  var handshake: MediaHandshake

  init(_ handshake: consuming MediaHandshake) {
    self.handshake = handshake
  }
}

/// A caller who waits and a callee who begins, and the path between them.
final class Handshakes {
  let caller: Identity
  let callee: Identity
  private var server: MediaHandshake
  private var client: MediaHandshake
  private let serverAddress = SocketAddress(host: "192.0.2.1", port: 4_000)
  private let clientAddress = SocketAddress(host: "192.0.2.2", port: 5_000)
  private var random: SeededGenerator
  private var ports: [UInt16: OtherPort] = [:]

  /// `port` is where the callee begins to call.
  init(
    seed: UInt64 = 1,
    caller: Identity? = nil,
    callee: Identity? = nil,
    at port: UInt16 = 4_000
  ) throws {
    let own = try caller ?? Identity.make()
    self.caller = own
    let callee = try callee ?? Identity.make()
    self.callee = callee
    server = MediaHandshake(waitingWith: own)
    let first = try #require(SocketAddress(host: "192.0.2.1", port: port))
    client = try MediaHandshake(callee, towards: first)
    random = SeededGenerator(seed: seed)
  }

  /// `control` is the callee's port for RTCP, nil if it has none of its own.
  func expect(words: Bool = true, ofCallee: Fingerprint? = nil, control: UInt16? = nil) throws {
    let (from, to) = (try #require(clientAddress), try #require(serverAddress))
    server.expect(
      .init(fingerprint: ofCallee ?? callee.fingerprint, exchangesWords: words),
      at: from,
      control: try #require(SocketAddress(host: from.host, port: control ?? from.port))
    )
    client.expect(
      .init(fingerprint: caller.fingerprint, exchangesWords: words),
      at: to,
      control: to
    )
  }

  /// Carries datagrams until nothing more is said; a share of them is lost, doubled and swapped.
  func run(lossShare: Double = 0, rounds: Int = 400) throws {
    let (from, to) = (try #require(clientAddress), try #require(serverAddress))
    for _ in 0..<rounds {
      for datagram in client.takeOutgoing() where !isLost(lossShare) {
        #expect(datagram.destination == to && datagram.bytes.count <= 1_200)
        server.receive(.init(bytes: datagram.bytes, source: from))
      }
      for datagram in server.takeOutgoing() where !isLost(lossShare) {
        #expect(datagram.destination == from && datagram.bytes.count <= 1_200)
        client.receive(.init(bytes: datagram.bytes, source: to))
      }
      if isOver { return }
      pass()
    }
  }

  // OpenSSL's pauses are the machine's; what is left of 50 ms is spent here.
  private func pass() {
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: .milliseconds(2))
    while clock.now < end {}
    server.tick()
    client.tick()
  }

  private func isLost(_ share: Double) -> Bool {
    share > 0 && Double.random(in: 0..<1, using: &random) < share
  }

  private var isOver: Bool {
    if case .waiting = server.state { return false }
    if case .waiting = client.state { return false }
    return true
  }

  var secured: (server: SecuredMedia, client: SecuredMedia)? {
    guard case .secured(let one) = server.state, case .secured(let other) = client.state else {
      return nil
    }
    return (one, other)
  }

  var failures: (server: String?, client: String?) {
    func reason(_ state: MediaHandshake.State) -> String? {
      if case .failed(let reason) = state { reason } else { nil }
    }
    return (reason(server.state), reason(client.state))
  }

  /// Loses the callee's datagrams so far.
  func loseFirstFlight(to port: UInt16) {
    let lost = client.takeOutgoing()
    #expect(!lost.isEmpty && lost.allSatisfy { $0.destination.port == port })
  }

  func feedServer(_ bytes: [UInt8], from port: UInt16) throws {
    let source = try #require(SocketAddress(host: "192.0.2.66", port: port))
    server.receive(.init(bytes: bytes, source: source))
  }

  func feedClient(_ bytes: [UInt8], fromHost host: String) throws {
    let source = try #require(SocketAddress(host: host, port: 4_000))
    client.receive(.init(bytes: bytes, source: source))
  }

  /// Another host carries out a handshake with the server.
  func beginForeignHandshake(from port: UInt16) throws {
    let source = try #require(SocketAddress(host: "192.0.2.66", port: port))
    let to = try #require(serverAddress)
    var stranger = try MediaHandshake(Identity.make(), towards: to)
    for _ in 0..<8 {
      for datagram in stranger.takeOutgoing() {
        server.receive(.init(bytes: datagram.bytes, source: source))
      }
      for datagram in server.takeOutgoing() where datagram.destination == source {
        stranger.receive(.init(bytes: datagram.bytes, source: to))
      }
    }
  }

  /// The callee carries out its handshake from another port, or only the beginning of it.
  func shakeHands(from port: UInt16, rounds: Int) throws {
    let source = try #require(SocketAddress(host: "192.0.2.2", port: port))
    let to = try #require(serverAddress)
    let other = try ports[port] ?? OtherPort(MediaHandshake(callee, towards: to))
    ports[port] = other
    other.handshake.expect(
      .init(fingerprint: caller.fingerprint, exchangesWords: false),
      at: to,
      control: to
    )
    for _ in 0..<rounds {
      for datagram in other.handshake.takeOutgoing() {
        server.receive(.init(bytes: datagram.bytes, source: source))
      }
      for datagram in server.takeOutgoing() where datagram.destination == source {
        other.handshake.receive(.init(bytes: datagram.bytes, source: to))
      }
    }
  }

  /// Number of strangers, each at a port of its own, that get an answer.
  func answeredStrangers(of count: Int) throws -> Int {
    let to = try #require(serverAddress)
    var answered = 0
    for number in 0..<count {
      let source = try #require(SocketAddress(host: "192.0.2.66", port: UInt16(30_000 + number)))
      var stranger = try MediaHandshake(Identity.make(), towards: to)
      for datagram in stranger.takeOutgoing() {
        server.receive(.init(bytes: datagram.bytes, source: source))
      }
      if server.takeOutgoing().contains(where: { $0.destination == source }) { answered += 1 }
    }
    return answered
  }

  /// The callee carries out one more handshake, from another port; true if it gets words by it.
  func getsWords(from port: UInt16) throws -> Bool {
    let source = try #require(SocketAddress(host: "192.0.2.2", port: port))
    let to = try #require(serverAddress)
    var other = try MediaHandshake(callee, towards: to)
    other.expect(
      .init(fingerprint: caller.fingerprint, exchangesWords: true),
      at: to,
      control: to
    )
    for _ in 0..<20 {
      for datagram in other.takeOutgoing() {
        server.receive(.init(bytes: datagram.bytes, source: source))
      }
      for datagram in server.takeOutgoing() where datagram.destination == source {
        other.receive(.init(bytes: datagram.bytes, source: to))
      }
    }
    guard case .secured(let media) = other.state else { return false }
    return media.encryption.words != nil
  }

  /// The port that the server has its keys with, nil before.
  var securedPort: UInt16? {
    if case .secured = server.state { server.answeringAddress?.port } else { nil }
  }

  func letPass(ticks: Int) {
    for _ in 0..<ticks { server.tick() }
  }

  func takeServerOutgoing() -> [MediaHandshake.Outgoing] { server.takeOutgoing() }
}
