import MediaCore
import Simulation
import Testing
import UDPTransport

@testable import CallSecurity
@testable import SRTP

/// The handshake that the callee makes from one of its ports.
private final class OtherPort {
  var handshake: MediaHandshake

  init(_ handshake: consuming MediaHandshake) {
    self.handshake = handshake
  }
}

/// A caller who waits and a callee who begins, and the path between them.
private final class Handshakes {
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

  /// What the callee has said so far reaches nobody.
  func loseFirstFlight(to port: UInt16) {
    let lost = client.takeOutgoing()
    #expect(!lost.isEmpty && lost.allSatisfy { $0.destination.port == port })
  }

  func feedServer(_ bytes: [UInt8], from port: UInt16) throws {
    let source = try #require(SocketAddress(host: "192.0.2.66", port: port))
    server.receive(.init(bytes: bytes, source: source))
  }

  /// Another host carries out a handshake with the server.
  func beginForeignHandshake(from port: UInt16) throws {
    let source = try #require(SocketAddress(host: "192.0.2.66", port: port))
    var stranger = try MediaHandshake(Identity.make(), towards: #require(serverAddress))
    for _ in 0..<8 {
      for datagram in stranger.takeOutgoing() {
        server.receive(.init(bytes: datagram.bytes, source: source))
      }
      for datagram in server.takeOutgoing() where datagram.destination == source {
        stranger.receive(.init(bytes: datagram.bytes, source: source))
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

  /// How many of so many strangers, each at a port of its own, get an answer.
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

struct MediaHandshakeTests {
  @Test func aHandshakeGoesOnWhereTheFarSideIsNow() throws {
    let handshakes = try Handshakes(at: 4_444)
    handshakes.loseFirstFlight(to: 4_444)
    try handshakes.expect()
    try handshakes.run()
    #expect(handshakes.secured != nil)
  }

  @Test func bothSidesHaveKeysAndTheSameWords() throws {
    let handshakes = try Handshakes()
    try handshakes.expect()
    try handshakes.run()
    let (server, client) = try #require(handshakes.secured)
    #expect(server.encryption.profile == .aeadAES128GCM)
    #expect(server.encryption.words?.count == 4)
    #expect(server.encryption.words == client.encryption.words)
    #expect(server.encryption.fingerprint == handshakes.callee.fingerprint)
    #expect(client.encryption.fingerprint == handshakes.caller.fingerprint)
    #expect(server.isLasting && client.isLasting)
    try Self.expectBothWays(server.session, client.session)
  }

  /// The source of a datagram may be forged.
  @Test func sourceThatSaysNoMoreIsSpared() throws {
    let victim = try #require(SocketAddress(host: "192.0.2.7", port: 5_004))
    let identity = try Identity.make()
    let hello = try HandshakeLink(identity, isClient: true, to: victim).takeDatagrams()
    let link = try HandshakeLink(identity, isClient: false, to: victim)
    var answers = 0
    for _ in 0..<40 {
      for datagram in hello { link.receive(datagram) }
      let taken = link.takeDatagrams()
      #expect(taken.count <= HandshakeLink.answerLimit)
      answers += taken.count
    }
    #expect(answers > 0)
  }

  /// Who is called has answered, and who has called has gone through the handshake.
  @Test func addressesThatAnswerAreKnown() throws {
    let address = try #require(SocketAddress(host: "192.0.2.7", port: 5_004))
    let other = try #require(SocketAddress(host: "192.0.2.8", port: 5_004))
    var client = try MediaHandshake(Identity.make(), towards: address)
    client.receive(.init(bytes: [22, 1, 2], source: other))
    #expect(client.answeringAddress == nil)
    client.receive(.init(bytes: [22, 1, 2], source: address))
    #expect(client.answeringAddress == address)
    var server = MediaHandshake(waitingWith: try Identity.make())
    server.receive(.init(bytes: [22, 1, 2], source: address))
    #expect(server.answeringAddress == nil)
  }

  /// The far side's certificate arrives before signalling says which one it is to be.
  @Test func aHandshakeMayBeOverBeforeTheAnswer() throws {
    let handshakes = try Handshakes()
    try handshakes.run(rounds: 20)
    #expect(handshakes.secured == nil)
    try handshakes.expect()
    #expect(handshakes.secured != nil)
  }

  /// A phone that knows no words has none.
  @Test func wordsAreNotWaitedForWhereTheFarSideHasNone() throws {
    let handshakes = try Handshakes()
    try handshakes.expect(words: false)
    try handshakes.run()
    #expect(handshakes.secured != nil)
  }

  /// Each call has words of its own.
  @Test func twoCallsHaveOtherWords() throws {
    var seen: Set<[String]> = []
    let caller = try Identity.make()
    for _ in 0..<20 {
      let handshakes = try Handshakes(caller: caller)
      try handshakes.expect()
      try handshakes.run()
      seen.insert(try #require(handshakes.secured?.server.encryption.words))
    }
    #expect(seen.count == 20)
  }

  @Test(arguments: 1...12)
  func lostDatagramsAreSentAgain(seed: UInt64) throws {
    let handshakes = try Handshakes(seed: seed)
    try handshakes.expect()
    try handshakes.run(lossShare: 0.3, rounds: 4_000)
    let (server, client) = try #require(handshakes.secured)
    #expect(server.encryption.words == client.encryption.words)
    try Self.expectBothWays(server.session, client.session)
  }

  @Test func anotherCertificateThanAnnouncedIsRefused() throws {
    let handshakes = try Handshakes()
    try handshakes.expect(ofCallee: try Identity.make().fingerprint)
    try handshakes.run(rounds: 20)
    #expect(handshakes.secured == nil)
    if case .secured = try Self.state(ofClientExpecting: Identity.make().fingerprint) {
      Issue.record("the client took another certificate")
    }
  }

  private static func state(
    ofClientExpecting fingerprint: Fingerprint
  ) throws -> MediaHandshake.State {
    let address = try #require(SocketAddress(host: "192.0.2.1", port: 4_000))
    var server = MediaHandshake(waitingWith: try Identity.make())
    var client = try MediaHandshake(Identity.make(), towards: address)
    client.expect(
      .init(fingerprint: fingerprint, exchangesWords: true),
      at: address,
      control: address
    )
    for _ in 0..<20 {
      for datagram in client.takeOutgoing() {
        server.receive(.init(bytes: datagram.bytes, source: address))
      }
      for datagram in server.takeOutgoing() {
        client.receive(.init(bytes: datagram.bytes, source: address))
      }
    }
    return client.state
  }

  /// Who floods the port before the call's own handshake takes no more than its share of it, and is
  /// answered no more than he sends.
  @Test func strangersAreBounded() throws {
    let handshakes = try Handshakes()
    let noise: [[UInt8]] = (0..<200).map { number in
      [22, 254, 253] + (0..<200).map { UInt8(truncatingIfNeeded: $0 &* number) }
    }
    for (number, bytes) in noise.enumerated() {
      try handshakes.feedServer(bytes, from: UInt16(1_000 + number))
      try handshakes.feedServer([], from: 1)
      try handshakes.feedServer([0x80, 96, 0, 1], from: 1)
    }
    #expect(handshakes.takeServerOutgoing().isEmpty)
  }

  /// What one side protects, the other opens.
  private static func expectBothWays(_ one: SRTPSession, _ other: SRTPSession) throws {
    for (sender, receiver) in [(one, other), (other, one)] {
      var datagram = ByteBuffer(repeating: 0, count: 200)
      for (index, byte) in ([0x80, 96, 0, 5] + [UInt8](repeating: 1, count: 20)).enumerated() {
        datagram[index] = byte
      }
      let protected = try #require(sender.sender.protect(&datagram, length: 24))
      #expect(receiver.receiver.unprotect(&datagram, length: protected) == 24)
    }
  }

  /// Somebody between the two has a handshake with either, and is shown by the words.
  @Test func anAttackerInTheMiddleShowsOtherWords() throws {
    let mallory = try Identity.make()
    var shown: [[[String]]] = []
    for _ in 0..<10 {
      // The caller takes the attacker for the callee, and the callee takes him for the caller.
      let first = try Handshakes(callee: mallory)
      let second = try Handshakes(caller: mallory)
      for handshakes in [first, second] {
        try handshakes.expect()
        try handshakes.run()
      }
      let caller = try #require(first.secured?.server.encryption.words)
      let callee = try #require(second.secured?.client.encryption.words)
      shown.append([caller, callee])
    }
    #expect(shown.allSatisfy { $0[0] != $0[1] })
  }

  /// Thirty others carry out a handshake first; the far side's own comes through, with its words.
  @Test func otherHandshakesAreNoHindrance() throws {
    let handshakes = try Handshakes()
    for number in 0..<UInt16(30) { try handshakes.beginForeignHandshake(from: 20_000 + number) }
    try handshakes.run(rounds: 20)
    try handshakes.expect()
    try handshakes.run()
    let (server, client) = try #require(handshakes.secured)
    #expect(server.encryption.words?.count == 4)
    #expect(server.encryption.words == client.encryption.words)
  }

  @Test func sixteenHandshakesAreKept() throws {
    #expect(try Handshakes().answeredStrangers(of: 20) == 16)
  }

  /// Each is a guess at the words for a far side that wants to be taken for another.
  @Test func threeHandshakesShowWords() throws {
    let handshakes = try Handshakes()
    try handshakes.expect()
    let shown = try (0..<5).map { try handshakes.getsWords(from: 6_000 + UInt16($0)) }
    #expect(shown == [true, true, true, false, false])
  }

  /// A phone without rtcp-mux makes a handshake for RTCP too, from a port of its own.
  ///
  /// However late the voice's is, the keys are those of the voice.
  @Test(arguments: [0, 1])
  func handshakeOfRTCPIsNotThatOfTheVoice(roundsOfVoiceBefore: Int) throws {
    let handshakes = try Handshakes()
    try handshakes.expect(words: false, control: 5_001)
    try handshakes.shakeHands(from: 5_000, rounds: roundsOfVoiceBefore)
    try handshakes.shakeHands(from: 5_001, rounds: 8)
    handshakes.letPass(ticks: 100)
    #expect(handshakes.securedPort == nil)
    try handshakes.shakeHands(from: 5_000, rounds: 8)
    #expect(handshakes.securedPort == 5_000)
  }

  /// Behind a router that changes ports, signalling does not tell which of the two is the voice's.
  @Test func lowerOfTwoChangedPortsIsTheVoice() throws {
    let handshakes = try Handshakes()
    try handshakes.expect(words: false, control: 5_001)
    try handshakes.shakeHands(from: 6_001, rounds: 8)
    #expect(handshakes.securedPort == nil)
    try handshakes.shakeHands(from: 6_000, rounds: 8)
    handshakes.letPass(ticks: 10)
    #expect(handshakes.securedPort == 6_000)
  }

  /// What carries both, and what carries the voice alone, is waited for no longer than that takes.
  @Test(arguments: [(nil, 0), (5_001, 10)])
  func changedPortIsTaken(control: UInt16?, ticks: Int) throws {
    let handshakes = try Handshakes()
    try handshakes.expect(words: false, control: control)
    try handshakes.shakeHands(from: 6_000, rounds: 8)
    handshakes.letPass(ticks: ticks)
    #expect(handshakes.securedPort == 6_000)
  }

  /// One port carries both, and the handshake was over before signalling told of it.
  @Test func namedPortIsPreferred() throws {
    let handshakes = try Handshakes()
    try handshakes.shakeHands(from: 6_000, rounds: 8)
    try handshakes.shakeHands(from: 5_000, rounds: 8)
    try handshakes.expect(words: false)
    #expect(handshakes.securedPort == 5_000)
  }
}
