import MediaCore
import Simulation
import Testing
import UDPTransport

@testable import CallSecurity
@testable import SRTP

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

  /// A client knows that the address it sends to answers by any datagram from there.
  ///
  /// A server knows the far side's address only after a handshake.
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

  /// Whole flights of a handshake that come from elsewhere are not taken.
  @Test func sideThatBeginsHearsNamedHostsOnly() throws {
    let address = try #require(SocketAddress(host: "192.0.2.7", port: 5_004))
    let elsewhere = try #require(SocketAddress(host: "192.0.2.8", port: 5_004))
    var server = MediaHandshake(waitingWith: try Identity.make())
    var client = try MediaHandshake(Identity.make(), towards: address)
    for datagram in client.takeOutgoing() {
      server.receive(.init(bytes: datagram.bytes, source: address))
    }
    let flight = server.takeOutgoing()
    for datagram in flight { client.receive(.init(bytes: datagram.bytes, source: elsewhere)) }
    #expect(!flight.isEmpty && client.takeOutgoing().isEmpty)
    // Signalling comes from there, behind a router: then the same flight is answered.
    client.admit(host: elsewhere.host, hasAnswered: true)
    for datagram in flight { client.receive(.init(bytes: datagram.bytes, source: elsewhere)) }
    #expect(!client.takeOutgoing().isEmpty)
  }

  /// The far side's certificate arrives before signalling names the expected one.
  @Test func aHandshakeMayBeOverBeforeTheAnswer() throws {
    let handshakes = try Handshakes()
    try handshakes.run(rounds: 20)
    #expect(handshakes.secured == nil)
    try handshakes.expect()
    #expect(handshakes.secured != nil)
  }

  /// A far side that does not support words is secured without them.
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

  /// A flood before the call's own handshake takes no more than its share of the port, and is
  /// answered with no more than it sends.
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

  /// Expects that each side opens packets that the other one has protected.
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

  /// An attacker in the middle, who has a handshake with each side, is revealed by their words.
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

  /// Thirty strangers begin a handshake first; that of the far side still succeeds, with its words.
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

  /// Handshakes with words are limited because each is an attacker's guess at the words.
  @Test func threeHandshakesShowWords() throws {
    let handshakes = try Handshakes()
    try handshakes.expect()
    let shown = try (0..<5).map { try handshakes.getsWords(from: 6_000 + UInt16($0)) }
    #expect(shown == [true, true, true, false, false])
  }

  /// A phone without rtcp-mux makes a handshake for RTCP too, from a port of its own.
  ///
  /// The keys used are those of the voice's handshake, however late that is.
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

  /// Behind a router that changes ports, signalling does not show which of two is the voice's.
  @Test func lowerOfTwoChangedPortsIsTheVoice() throws {
    let handshakes = try Handshakes()
    try handshakes.expect(words: false, control: 5_001)
    try handshakes.shakeHands(from: 6_001, rounds: 8)
    #expect(handshakes.securedPort == nil)
    try handshakes.shakeHands(from: 6_000, rounds: 8)
    handshakes.letPass(ticks: 10)
    #expect(handshakes.securedPort == 6_000)
  }

  /// A changed port is taken at once if it carries RTP and RTCP, and after a short wait if it may
  /// carry either.
  @Test(arguments: [(nil, 0), (5_001, 10)])
  func changedPortIsTaken(control: UInt16?, ticks: Int) throws {
    let handshakes = try Handshakes()
    try handshakes.expect(words: false, control: control)
    try handshakes.shakeHands(from: 6_000, rounds: 8)
    handshakes.letPass(ticks: ticks)
    #expect(handshakes.securedPort == 6_000)
  }

  /// One port carries RTP and RTCP, and handshakes were over before signalling named it.
  @Test func namedPortIsPreferred() throws {
    let handshakes = try Handshakes()
    try handshakes.shakeHands(from: 6_000, rounds: 8)
    try handshakes.shakeHands(from: 5_000, rounds: 8)
    try handshakes.expect(words: false)
    #expect(handshakes.securedPort == 5_000)
  }
}
