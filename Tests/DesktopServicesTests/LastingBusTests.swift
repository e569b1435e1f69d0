import BusFixture
import Testing
@testable import DesktopServices

struct LastingBusTests {
  @Test(.timeLimit(.minutes(10)))
  func connectionReportsThatTheBusHasGone() async throws {
    guard let daemon = try BusDaemon() else { return }
    let bus = try #require(BusConnection(address: daemon.address))
    let (ends, continuation) = AsyncStream<Int>.makeStream()
    bus.whenEnded { continuation.yield(1) }
    #expect(bus.isConnected)
    daemon.stop()
    var end = ends.makeAsyncIterator()
    #expect(await end.next() == 1)
    #expect(!bus.isConnected && bus.owner(of: "org.freedesktop.DBus") == nil)
    bus.whenEnded { continuation.yield(2) }
    #expect(await end.next() == 2)
  }

  @Test(.timeLimit(.minutes(10)))
  func busThatIsRestartedIsFound() async throws {
    guard let daemon = try BusDaemon() else { return }
    let lasting = LastingBus(address: daemon.address)
    let (returns, continuation) = AsyncStream<BusConnection>.makeStream()
    lasting.whenBack { continuation.yield($0) }
    let first = try #require(lasting.bus)
    daemon.stop()
    try daemon.start()
    var found = returns.makeAsyncIterator()
    let second = try #require(await found.next())
    #expect(second !== first && second === lasting.bus && !second.names.isEmpty)
  }
}
