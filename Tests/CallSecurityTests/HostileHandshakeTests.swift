import Testing
import UDPTransport

@testable import CallSecurity

/// Handshakes that strangers begin, disturb or never end.
struct HostileHandshakeTests {
  /// Little is sent to a source that sends nothing new, since it may be forged.
  @Test func sourceThatSaysNoMoreIsSpared() throws {
    let victim = try #require(SocketAddress(host: "192.0.2.7", port: 5_004))
    let identity = try Identity.make()
    let hello = try HandshakeLink(identity, isClient: true, to: victim)
      .takeDatagrams(limit: 1)
    let link = try HandshakeLink(identity, isClient: false, to: victim)
    var answers = 0
    for _ in 0..<40 {
      for datagram in hello { link.receive(datagram) }
      answers += link.takeDatagrams(limit: HandshakeLink.answerLimit).count
    }
    #expect(answers > 0 && answers <= HandshakeLink.answerLimit)
  }

  /// The end of a handshake, where its second message is due.
  private static let misplaced: [UInt8] = [
    22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 9, 0, 12, 20, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
  ]

  /// A source that makes its handshake fail and begins anew is the same source, and many of them
  /// are not answered one by one.
  @Test func beginningAnewBringsNoMore() throws {
    let handshakes = try Handshakes()
    let address = try #require(SocketAddress(host: "192.0.2.1", port: 4_000))
    var stranger = try MediaHandshake(Identity.make(), towards: address)
    let hello = stranger.takeOutgoing().map(\.bytes)
    var answers: [UInt16: Int] = [:]
    for _ in 0..<60 {
      for port in 7_000..<UInt16(7_040) {
        for bytes in hello + [Self.misplaced] { try handshakes.feedServer(bytes, from: port) }
        answers[port, default: 0] += handshakes.takeServerOutgoing().count
      }
    }
    #expect(answers.values.allSatisfy { $0 <= HandshakeLink.answerLimit })
    #expect(answers.values.count { $0 > 0 } == 20)
  }

  /// A host that signalling has answered from is sent more, since a bad network takes more.
  @Test func hostThatSignallingHasAnsweredFromIsSentMore() throws {
    let address = try #require(SocketAddress(host: "192.0.2.7", port: 5_004))
    var client = try MediaHandshake(Identity.make(), towards: address)
    let hello = client.takeOutgoing()
    // It fails and begins anew each time.
    func answers(_ server: inout MediaHandshake) -> Int {
      (0..<150).reduce(0) { sum, _ in
        for bytes in hello.map(\.bytes) + [Self.misplaced] {
          server.receive(.init(bytes: bytes, source: address))
        }
        return sum + server.takeOutgoing().count
      }
    }
    var forged = MediaHandshake(waitingWith: try Identity.make())
    forged.admit(host: "192.0.2.7", hasAnswered: false)
    #expect(answers(&forged) <= HandshakeLink.answerLimit)
    var known = MediaHandshake(waitingWith: try Identity.make())
    known.admit(host: "192.0.2.7", hasAnswered: true)
    let more = answers(&known)
    #expect(more > HandshakeLink.answerLimit && more <= HandshakeLink.knownAnswerLimit)
  }

  private static let openAlert: [UInt8] = [
    21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 7, 0, 2, 2, 40,
  ]

  /// Alerts before there are keys end no handshake, since anyone can write them.
  @Test func alertsInTheOpenEndNoHandshake() throws {
    let handshakes = try Handshakes()
    try handshakes.expect()
    try handshakes.feedClient(Self.openAlert, fromHost: "192.0.2.1")
    try handshakes.feedClient(Self.openAlert, fromHost: "192.0.2.66")
    try handshakes.run()
    #expect(handshakes.secured != nil)
  }

  @Test func onlyAlertsInTheOpenAreLeftOut() {
    let message: [UInt8] = [22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 1, 2, 3]
    let encrypted: [UInt8] = [21, 254, 253, 0, 1, 0, 0, 0, 0, 0, 1, 0, 3, 9, 9, 9]
    #expect(
      DTLSAssociation.withoutOpenAlerts(message + Self.openAlert + encrypted)
        == message + encrypted
    )
    #expect(DTLSAssociation.withoutOpenAlerts(Self.openAlert).isEmpty)
    for cut in 0..<message.count {
      let part = Array(message.prefix(cut))
      #expect(DTLSAssociation.withoutOpenAlerts(part) == part, "OpenSSL judges what is cut off")
    }
  }

  /// Datagrams behind a close_notify are dropped.
  @Test(arguments: [true, false])
  func nothingPilesUpBehindTheLastMessage(isClient: Bool) throws {
    let identity = try Identity.make()
    var near = try DTLSAssociation(identity, isClient: isClient)
    var far = try DTLSAssociation(identity, isClient: !isClient)
    for _ in 0..<8 {
      for datagram in far.takeDatagrams() { near.receive(datagram) }
      for datagram in near.takeDatagrams() { far.receive(datagram) }
    }
    #expect(near.progress == .complete && far.progress == .complete)
    far.close()
    let farewell = far.takeDatagrams()
    for datagram in farewell { near.receive(datagram) }
    #expect(near.nextMessage() == nil && near.isClosed)
    for _ in 0..<2_000 {
      for datagram in farewell { near.receive(datagram + datagram) }
    }
    #expect(near.pendingBytes <= 16_384)
    #expect(near.keys != nil, "the voice has its keys all the same")
  }

  /// A client that reads no messages yet keeps a few.
  @Test func messagesThatAreNotReadAreBounded() throws {
    let identity = try Identity.make()
    var near = try DTLSAssociation(identity, isClient: true)
    var far = try DTLSAssociation(identity, isClient: false)
    for _ in 0..<8 {
      for datagram in near.takeDatagrams() { far.receive(datagram) }
      for datagram in far.takeDatagrams() { near.receive(datagram) }
    }
    for _ in 0..<2_000 {
      far.send(Array(repeating: 7, count: 200))
      for datagram in far.takeDatagrams() { near.receive(datagram) }
    }
    #expect(near.pendingBytes > 0 && near.pendingBytes <= 16_384)
  }
}
