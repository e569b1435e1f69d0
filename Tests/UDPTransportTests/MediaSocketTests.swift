import MediaCore
import RealTime
import Testing

@testable import UDPTransport

/// Real sockets on the loopback interface, which refuses closed ports at once.
struct MediaSocketTests {
  private static func address(_ port: UInt16, on host: String = "127.0.0.1") throws -> SocketAddress
  {
    try #require(SocketAddress(host: host, port: port))
  }

  private static func socket(_ host: String = "127.0.0.1") throws -> MediaSocket {
    try MediaSocket(bindingTo: address(0, on: host))
  }

  /// A closed port.
  private static func closedPort() throws -> UInt16 {
    let socket = try socket()
    return socket.localPort
  }

  /// Outcomes of receiving until nothing is waiting.
  private static func outcomes(of socket: inout MediaSocket) -> [TransportOutcome] {
    var buffer = ByteBuffer(repeating: 0, count: 64)
    var outcomes: [TransportOutcome] = []
    while outcomes.count < 1_000 {
      let outcome = socket.receive(into: &buffer, at: MonotonicClock.now())
      if case .empty = outcome { break }
      outcomes.append(outcome)
    }
    return outcomes
  }

  @Test func whatWasNotThereCameLater() throws {
    var near = try Self.socket()
    let own = try Self.address(near.localPort)
    near.connect(to: own, control: own)
    var buffer = ByteBuffer(repeating: 1, count: 20)
    let look = MonotonicClock.now().advanced(byNanoseconds: 3_600_000_000_000)
    #expect(near.receive(into: &buffer, at: look) == .empty)
    near.send(buffer, length: 20, isControl: false)
    #expect(
      near.receive(into: &buffer, at: look)
        == .received(Arrival(length: 20, instant: look, origin: .agreed))
    )
  }

  @Test func checksArePassedOnAndTheRestIsNot() throws {
    var near = try Self.socket()
    let far = try Self.socket()
    let checks = try near.makeCheckPort()
    var other = try near.duplicate()
    let own = try Self.address(near.localPort)
    for first: UInt8 in [0, 128, 1, 22, 3] { far.send([first, 7], to: own) }
    #expect(near.receiveDatagram() == nil)
    #expect(near.receiveDatagram()?.bytes == [128, 7])
    // A duplicate passes on as well, and says so in its way.
    let outcomes = Self.outcomes(of: &other)
    #expect(outcomes.count == 3 && outcomes.first == .failed && outcomes.last == .failed)
    let source = try Self.address(far.localPort)
    for first: UInt8 in [0, 1, 3] {
      #expect(checks.receive() == MediaSocket.Datagram(bytes: [first, 7], source: source))
    }
    #expect(checks.receive() == nil)
    checks.send([1, 9], to: source)
    #expect(far.receiveDatagram() == MediaSocket.Datagram(bytes: [1, 9], source: own))
  }

  @Test func aFloodOfChecksIsDropped() throws {
    var near = try Self.socket()
    let far = try Self.socket()
    let checks = try near.makeCheckPort()
    let own = try Self.address(near.localPort)
    for _ in 0..<2_000 { far.send([0, 1], to: own) }
    _ = Self.outcomes(of: &near)
    var kept = 0
    while checks.receive() != nil { kept += 1 }
    #expect(kept > 0 && kept < 2_000)
  }

  @Test func reportsThatNobodyTakesCostNoPacketOfVoice() throws {
    var near = try Self.socket()
    var far = try Self.socket()
    let control = try Self.closedPort()
    near.connect(
      to: try Self.address(far.localPort),
      control: try Self.address(control),
      isAnswering: true
    )
    let datagram = ByteBuffer(repeating: 1, count: 20)
    var refusals = 0
    for _ in 0..<50 {
      near.send(datagram, length: 20, isControl: true)
      near.send(datagram, length: 20, isControl: false)
      refusals += Self.outcomes(of: &near).count { $0 == .refused }
    }
    let received = Self.outcomes(of: &far).count
    #expect(received == 50 && refusals == 0)
  }

  @Test func closedPortOfTheVoiceIsARefusal() throws {
    var near = try Self.socket()
    let closed = try Self.address(try Self.closedPort())
    near.connect(to: closed, control: closed)
    let datagram = ByteBuffer(repeating: 1, count: 20)
    var refusals = 0
    for _ in 0..<10 {
      near.send(datagram, length: 20, isControl: false)
      refusals += Self.outcomes(of: &near).count { $0 == .refused }
    }
    #expect(refusals >= 8)
  }

  @Test func anotherPortOfTheHostIsToldApart() throws {
    var near = try Self.socket()
    let far = try Self.socket()
    var other = try Self.socket()
    let own = try Self.address(near.localPort)
    near.connect(to: try Self.address(far.localPort), control: try Self.address(far.localPort))
    other.connect(to: own, control: own)
    other.send(ByteBuffer(repeating: 1, count: 20), length: 20, isControl: false)
    let origins = Self.outcomes(of: &near).compactMap { outcome in
      if case .received(let arrival) = outcome { arrival.origin } else { nil }
    }
    #expect(origins == [.neighbour])
  }

  @Test func hostsAreToldApart() throws {
    var near = try Self.socket("0.0.0.0")
    var far = try Self.socket()
    var stranger = try Self.socket("127.0.0.2")
    let own = try Self.address(near.localPort)
    near.connect(to: try Self.address(far.localPort), control: try Self.address(far.localPort))
    far.connect(to: own, control: own)
    stranger.connect(to: own, control: own)
    let datagram = ByteBuffer(repeating: 1, count: 20)
    func origins(_ socket: inout MediaSocket) -> [DatagramOrigin] {
      Self.outcomes(of: &socket).compactMap { outcome in
        guard case .received(let arrival) = outcome else { return nil }
        return arrival.origin
      }
    }
    far.send(datagram, length: 20, isControl: false)
    stranger.send(datagram, length: 20, isControl: false)
    let first = origins(&near)
    near.admitLastSource()
    stranger.send(datagram, length: 20, isControl: false)
    let second = origins(&near)
    near.forgetAdmitted()
    stranger.send(datagram, length: 20, isControl: false)
    let third = origins(&near)
    #expect(first == [.agreed, .foreign] && second == [.admitted] && third == [.foreign])
  }

  /// An address that does not answer gets few datagrams, since a description may name a stranger's
  /// (RFC 8826 section 4.2.2).
  @Test func addressThatDoesNotAnswerIsSpared() throws {
    var near = try Self.socket()
    var victim = try Self.socket()
    let own = try Self.address(near.localPort)
    let named = try Self.address(victim.localPort)
    near.connect(to: named, control: named)
    let datagram = ByteBuffer(repeating: 0x80, count: 20)
    func received(from socket: inout MediaSocket) -> Int {
      for _ in 0..<100 {
        // Time stands still, so none of the later ones is due.
        near.send(datagram, length: 20, isControl: false)
        near.send(datagram, length: 20, isControl: true)
        var buffer = ByteBuffer(repeating: 0, count: 64)
        _ = near.receive(into: &buffer, at: MonotonicInstant(nanoseconds: 1))
      }
      return Self.outcomes(of: &socket).count
    }
    #expect(received(from: &victim) == 20)
    // Neither a packet from elsewhere nor one that is no RTP is an answer.
    let stranger = try Self.socket()
    stranger.send([UInt8](repeating: 0x80, count: 20), to: own)
    victim.send([UInt8](repeating: 0x41, count: 20), to: own)
    #expect(received(from: &victim) == 0)
    victim.send([UInt8](repeating: 0x80, count: 20), to: own)
    #expect(received(from: &victim) > 190)
    // A later stream over the port to the same address goes on.
    var later = try near.duplicate()
    later.connect(to: named, control: named)
    swap(&near, &later)
    #expect(received(from: &victim) == 200)
    // Other ports get one budget in all: the call's, of which none went to the far side.
    var other = try Self.socket("127.0.0.9")
    var given = 0
    for _ in 0..<5 {
      let address = try Self.address(other.localPort, on: "127.0.0.9")
      near.connect(to: address, control: address)
      given += received(from: &other)
      near.connect(to: named, control: named)
      #expect(received(from: &victim) == 200)
    }
    #expect(given == 20)
  }

  /// Voice from another port of the named host counts as an answer: the far side may have a socket
  /// of its own for sending.
  @Test func voiceFromAnotherPortOfTheNamedHostIsAnAnswer() throws {
    var near = try Self.socket()
    var named = try Self.socket()
    let other = try Self.socket()
    let address = try Self.address(named.localPort)
    near.connect(to: address, control: address)
    other.send([UInt8](repeating: 0x80, count: 20), to: try Self.address(near.localPort))
    var buffer = ByteBuffer(repeating: 0, count: 64)
    _ = near.receive(into: &buffer, at: MonotonicInstant(nanoseconds: 1))
    near.admitLastSource()
    for _ in 0..<100 { near.send(buffer, length: 20, isControl: false) }
    #expect(Self.outcomes(of: &named).count == 100)
  }

  /// Behind some routers only the port that voice comes from is open, which may not be the agreed
  /// one (RFC 4961): both get the voice, until it comes from the agreed one.
  @Test func voiceGoesToThePortThatItComesFromAsWell() throws {
    var near = try Self.socket()
    var named = try Self.socket()
    var other = try Self.socket()
    let address = try Self.address(named.localPort)
    near.connect(to: address, control: address)
    other.send([UInt8](repeating: 0x80, count: 20), to: try Self.address(near.localPort))
    var buffer = ByteBuffer(repeating: 0, count: 64)
    _ = near.receive(into: &buffer, at: MonotonicInstant(nanoseconds: 1))
    near.admitLastSource()
    for isControl in [false, false, true] { near.send(buffer, length: 20, isControl: isControl) }
    #expect(Self.outcomes(of: &named).count == 3 && Self.outcomes(of: &other).count == 2)
    near.forgetAdmitted()
    near.send(buffer, length: 20, isControl: false)
    #expect(Self.outcomes(of: &named).count == 1 && Self.outcomes(of: &other).isEmpty)
  }

  /// If the agreed port is closed, the other one is meant.
  @Test func closedPortIsLeftForTheOneThatVoiceComesFrom() throws {
    var near = try Self.socket()
    var other = try Self.socket()
    let closed = try Self.address(try Self.closedPort())
    near.connect(to: closed, control: closed)
    other.send([UInt8](repeating: 0x80, count: 20), to: try Self.address(near.localPort))
    var buffer = ByteBuffer(repeating: 0, count: 64)
    _ = near.receive(into: &buffer, at: MonotonicInstant(nanoseconds: 1))
    near.admitLastSource()
    near.send(buffer, length: 20, isControl: false)
    let refused = Self.outcomes(of: &near).contains {
      if case .refused = $0 { true } else { false }
    }
    #expect(!refused)
    near.send(buffer, length: 20, isControl: true)
    #expect(Self.outcomes(of: &other).count == 2)
  }

  @Test func portsThatTheSystemChoosesAreEven() throws {
    var even = 0
    for _ in 0..<20 where try Self.socket().localPort % 2 == 0 { even += 1 }
    #expect(even >= 18, "\(even) of 20: where few are left there may be no even one")
  }

  /// Reports that are not multiplexed come to the port after the voice's (RFC 3550 section 11).
  @Test func reportsMayComeToThePortAfterTheVoices() throws {
    var near = try Self.socket()
    let voice = try Self.socket()
    let control = try Self.socket()
    near.openReports()
    // The next stream of the call has it beside the one before.
    var later = try near.duplicate()
    later.connect(
      to: try Self.address(voice.localPort),
      control: try Self.address(control.localPort)
    )
    control.send([UInt8](repeating: 0x81, count: 20), to: try Self.address(near.localPort + 1))
    let outcomes = Self.outcomes(of: &later)
    guard case .received(let arrival) = outcomes.first else { throw NoReport() }
    #expect(outcomes.count == 1 && arrival.origin == .agreed && arrival.length == 20)
  }

  private struct NoReport: Error {}

  /// The port after the voice's is not taken from another program.
  @Test func aPortThatIsInUseIsLeftAlone() throws {
    var near = try Self.socket()
    guard let next = SocketAddress(host: "127.0.0.1", port: near.localPort + 1),
      var other = try? MediaSocket(bindingTo: next)
    else { return }
    near.openReports()
    let sender = try Self.socket()
    sender.send([UInt8](repeating: 0x81, count: 20), to: next)
    #expect(Self.outcomes(of: &other).count == 1 && Self.outcomes(of: &near).isEmpty)
  }

  /// Voice from two ports of another host is no answer of the named address, which may be a
  /// stranger's.
  @Test func anotherPortOfAnotherHostAnswersForItself() throws {
    var near = try Self.socket("0.0.0.0")
    var named = try Self.socket("127.0.0.2")
    let one = try Self.socket("127.0.0.3")
    let two = try Self.socket("127.0.0.3")
    let address = try Self.address(named.localPort, on: "127.0.0.2")
    near.connect(to: address, control: address)
    near.noteAnswer(fromHost: "127.0.0.3")
    var buffer = ByteBuffer(repeating: 0, count: 64)
    for isFirst in [true, false] {
      let voice = [UInt8](repeating: 0x80, count: 20)
      let own = try Self.address(near.localPort)
      if isFirst { one.send(voice, to: own) } else { two.send(voice, to: own) }
      _ = near.receive(into: &buffer, at: MonotonicInstant(nanoseconds: 1))
      near.admitLastSource()
      near.send(buffer, length: 20, isControl: false)
    }
    var later = try near.duplicate()
    later.connect(to: address, control: address)
    for _ in 0..<100 { later.send(buffer, length: 20, isControl: false) }
    #expect(Self.outcomes(of: &named).count <= 20)
  }

  /// Media go to the host that the far side's media come from, if its signalling comes from there
  /// as well.
  ///
  /// The far side may have several addresses, or be behind a router.
  @Test(arguments: ["127.0.0.3", "127.0.0.2", nil])
  func farSideIsAnsweredAtTheHostOfItsSignalling(signalling: String?) throws {
    var near = try Self.socket("0.0.0.0")
    var named = try Self.socket("127.0.0.2")
    var real = try Self.socket("127.0.0.3")
    let address = try Self.address(named.localPort, on: "127.0.0.2")
    near.connect(to: address, control: address)
    if let signalling { near.noteAnswer(fromHost: signalling) }
    let voice = [UInt8](repeating: 0x80, count: 20)
    real.send(voice, to: try Self.address(near.localPort))
    var buffer = ByteBuffer(repeating: 0, count: 64)
    let now = MonotonicInstant(nanoseconds: 1)
    _ = near.receive(into: &buffer, at: now)
    near.admitLastSource()
    for _ in 0..<100 { near.send(buffer, length: 20, isControl: false) }
    let counts = [Self.outcomes(of: &named).count, Self.outcomes(of: &real).count]
    #expect(counts == (signalling.map { $0 == "127.0.0.3" ? [0, 100] : [100, 0] } ?? [20, 0]))
  }

  @Test(
    arguments: [
      ("192.0.2.1", true), ("127.0.0.1", true), ("223.255.255.1", true), ("2001:db8::1", true),
      ("fe80::1", true), ("::ffff:192.0.2.1", true), ("0.0.0.0", false), ("0.1.2.3", false),
      ("224.0.0.251", false), ("239.1.2.3", false), ("255.255.255.255", false), ("::", false),
      ("ff02::fb", false), ("FF0E::1", false), ("::ffff:239.1.2.3", false),
      ("0::0", false), ("0:0:0:0:0:ffff:e000:1", false), ("::1", true), ("::224.0.0.1", false),
    ]
  )
  func groupsAndAllHostsAreNoUnicastAddresses(host: String, isUnicast: Bool) throws {
    #expect(try Self.address(5_004, on: host).isUnicast == isUnicast)
    #expect(try !Self.address(0, on: host).isUnicast)
  }

  @Test func whatIsOldIsThrownAwayThoughErrorsAreWaiting() throws {
    var near = try Self.socket()
    var far = try Self.socket()
    let own = try Self.address(near.localPort)
    far.connect(to: own, control: own)
    near.connect(
      to: try Self.address(far.localPort),
      control: try Self.address(try Self.closedPort())
    )
    let datagram = ByteBuffer(repeating: 1, count: 20)
    near.send(datagram, length: 20, isControl: true)
    for _ in 0..<5 { far.send(datagram, length: 20, isControl: false) }
    near.discardPending()
    let rest = Self.outcomes(of: &near).count
    #expect(rest == 0)
  }

  @Test func ownAddressTowardsLoopbackIsLoopback() throws {
    let far = try #require(SocketAddress(host: "127.0.0.1", port: 5_060))
    #expect(MediaSocket.localAddress(towards: far) == "127.0.0.1")
  }
}
