import BusFixture
@testable import DesktopServices
import Foundation
import Testing

struct ProgramCallsTests {
  private static let ringing = ProgramCall(
    id: UUID(),
    isOutgoing: false,
    isOnHold: false,
    hasConnected: false
  )

  private func call(_ id: UUID, isOnHold: Bool = false) -> ProgramCall {
    ProgramCall(id: id, isOutgoing: true, isOnHold: isOnHold, hasConnected: true)
  }

  /// A program that watches, and what it has seen: a call, and whether it is over.
  private struct Watcher {
    let calls: ProgramCalls
    private let seen: AsyncStream<(ProgramCall, Bool)>

    init(at address: String) {
      calls = ProgramCalls(address: address)
      let (seen, continuation) = AsyncStream<(ProgramCall, Bool)>.makeStream()
      self.seen = seen
      calls.watch { continuation.yield(($0, $1)) }
    }

    func next() async -> (call: ProgramCall, isOver: Bool)? {
      var iterator = seen.makeAsyncIterator()
      return await iterator.next()
    }
  }

  @Test func nameSaysTheStateOfACallAndNothingElse() {
    let talking = call(UUID(), isOnHold: true)
    #expect(ProgramCall(busName: talking.busName) == talking)
    #expect(ProgramCall(busName: Self.ringing.busName) == Self.ringing)
    #expect(!talking.isActive && !Self.ringing.isActive && call(UUID()).isActive)
    let others = [
      "org.sidetone.ActiveCall", "org.sidetone.Call", "org.sidetone.Call.c12.out",
      "org.sidetone.Call.c\(String(repeating: "g", count: 32)).out",
      "org.sidetone.Call.c\(String(repeating: "a", count: 32)).up",
      "org.sidetone.Call.\(String(repeating: "a", count: 33)).out", ":1.7",
    ]
    #expect(others.allSatisfy { ProgramCall(busName: $0) == nil })
  }

  @Test(.timeLimit(.minutes(10)))
  func programsSeeEachOthersCallsChangeAndEnd() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    var first: ProgramCalls? = ProgramCalls(address: daemon.address)
    let watcher = Watcher(at: daemon.address)
    #expect(watcher.calls.calls.isEmpty)
    let id = UUID()
    first?.publish([call(id), Self.ringing])
    var seen: Set<ProgramCall> = []
    while seen.count < 2, let (call, isOver) = await watcher.next() {
      #expect(!isOver)
      seen.insert(call)
    }
    #expect(seen == [call(id), Self.ringing])
    // One that comes later knows them at once.
    #expect(Set(ProgramCalls(address: daemon.address).calls) == seen)

    // A change is no end.
    first?.publish([call(id, isOnHold: true), Self.ringing])
    var change = try #require(await watcher.next())
    #expect(change.call == call(id, isOnHold: true) && !change.isOver)
    first?.publish([call(id, isOnHold: true)])
    change = try #require(await watcher.next())
    #expect(change.call == Self.ringing && change.isOver)
    // A program ends without a word.
    first = nil
    change = try #require(await watcher.next())
    #expect(change.call.id == id && change.isOver)
    #expect(watcher.calls.calls.isEmpty && watcher.calls.known.isEmpty)
  }

  /// A bus that goes for good, as at the end of a session, leaves no call behind.
  @Test(.timeLimit(.minutes(10)))
  func callsOfABusThatHasGoneAreOver() async throws {
    guard let daemon = try BusDaemon() else { return }
    let first = ProgramCalls(address: daemon.address)
    let watcher = Watcher(at: daemon.address)
    watcher.calls.start()
    let id = UUID()
    first.publish([call(id)])
    while watcher.calls.known.isEmpty { _ = await watcher.next() }
    daemon.stop()
    // It is tried anew meanwhile, and is not there.
    watcher.calls.publish([])
    while let (call, isOver) = await watcher.next(), !(call.id == id && isOver) {}
    #expect(watcher.calls.known.isEmpty)
  }

  @Test(.timeLimit(.minutes(10)))
  func callsAreSeenAgainWhenTheBusIsBack() async throws {
    guard let daemon = try BusDaemon() else { return }
    let first = ProgramCalls(address: daemon.address)
    let watcher = Watcher(at: daemon.address)
    watcher.calls.start()
    let (stays, ends) = (UUID(), UUID())
    first.publish([call(stays), call(ends)])
    while watcher.calls.known.count < 2 { _ = await watcher.next() }
    daemon.stop()
    first.publish([call(stays)])
    try daemon.start()
    while let (call, isOver) = await watcher.next(), !(call.id == stays && !isOver) {}
    while Set(watcher.calls.known.map(\.id)) != [stays] { _ = await watcher.next() }
    #expect(watcher.calls.known == [call(stays)])
  }
}
