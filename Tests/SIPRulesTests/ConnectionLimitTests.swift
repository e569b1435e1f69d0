import MediaCore
import Testing

@testable import SIPRules

/// Admission of connections, in virtual time.
struct ConnectionLimitTests {
  private var limit = ConnectionLimit()
  private var now = MonotonicInstant(nanoseconds: 0)
  private var closed: Set<CInt> = []

  private mutating func admits(_ descriptor: CInt, from host: String) -> Bool {
    let connection = ConnectionLimit.Connection(descriptor: descriptor, host: host, port: 9)
    return limit.admits(connection, at: now) { [closed] in !closed.contains($0.descriptor) }
  }

  @Test mutating func oneHostHasSixtyFourConnections() {
    var kept = 0
    for descriptor: CInt in 0..<200 {
      now = now.advanced(by: .seconds(1))
      if admits(descriptor, from: "192.0.2.1") { kept += 1 }
    }
    #expect(kept == 64)
    #expect(admits(300, from: "192.0.2.2"))
    // Those that have ended make room.
    closed = Set(0..<10)
    for descriptor: CInt in 400..<420 {
      now = now.advanced(by: .seconds(1))
      if admits(descriptor, from: "192.0.2.1") { kept += 1 }
    }
    #expect(kept == 74)
  }

  @Test mutating func thereIsAnEndToTheConnectionsOfAll() {
    let kept = (0..<1_000).count { admits(CInt($0), from: "192.0.2.\($0 % 250)") }
    #expect(kept == 256)
  }

  /// Strangers that hold all connections open to them do not keep out hosts that the user talks to.
  @Test mutating func knownHostFindsRoomBesideStrangers() {
    limit.noteCall(with: "203.0.113.7", at: now)
    for descriptor: CInt in 0..<256 { _ = admits(descriptor, from: "192.0.2.\(descriptor % 250)") }
    #expect(!admits(1_000, from: "203.0.113.8"))
    #expect(admits(1_001, from: "203.0.113.7"))
  }

  /// The rate is limited because each connection costs a handshake.
  @Test mutating func oneHostOpensTwentyASecond() {
    var kept = 0
    for descriptor: CInt in 0..<2_000 {
      // All of them end at once.
      closed.insert(descriptor)
      now = now.advanced(byNanoseconds: 500_000)
      if admits(descriptor, from: "192.0.2.1") { kept += 1 }
    }
    #expect((83...85).contains(kept))
  }

  /// The system reuses a descriptor once its connection has ended.
  @Test mutating func numberThatIsGivenAnewIsAnotherConnection() {
    for _ in 0..<500 {
      now = now.advanced(by: .seconds(1))
      #expect(admits(7, from: "192.0.2.1"))
    }
  }
}
