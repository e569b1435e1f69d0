import Testing

@testable import UDPTransport

struct NetworkWatchTests {
  @Test func aSleepIsNoticedOnce() {
    let watch = NetworkWatch()
    #expect(watch.fileDescriptor >= 0)
    #expect(!watch.takeSleep())
    #expect(!watch.noteSleep(4_000_000_000))
    #expect(watch.noteSleep(60_000_000_000))
    #expect(!watch.noteSleep(60_000_000_000))
    watch.drain()
  }
}
