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

  /// What a socket tells until nothing is waiting.
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
    near.connect(to: try Self.address(far.localPort), control: try Self.address(control))
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
}
