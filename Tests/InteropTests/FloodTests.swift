import Foundation
import ProgramRig
import Testing

/// A live call while strangers send as much as they can.
@Suite(.waiting, .serialized)
struct FloodTests {
  @Test func liveCallDoesNotNoticeAFlood() throws {
    let media = Bench.port()
    let pair = try Pair(duration: 24, listenerOptions: ["--rtp-port", "\(media)"])
    #expect(pair.caller.wait(for: "\"stats\""), "\(pair.caller.output)")
    let before = try ProcessHoldings(of: pair.listener.identifier)
    var flood = try Flood(from: "127.0.0.66", signalling: pair.port, media: media)
    flood.run(seconds: 6)
    let during = try ProcessHoldings(of: pair.listener.identifier)
    print(
      "flood: \(flood.invites) INVITEs, \(flood.datagrams) datagrams, \(flood.connections)",
      "connections; answers: \(flood.answers)"
    )
    // Ten seconds later everything is as it was.
    var none = pollfd(fd: -1, events: 0, revents: 0)
    _ = unsafe poll(&none, 0, 10_000)
    let after = try ProcessHoldings(of: pair.listener.identifier)
    print("before: \(before), during: \(during), after: \(after)")
    #expect(flood.answers["503"] ?? 0 > 1_000)
    #expect(flood.answers["200"] ?? 0 == 0, "a stranger's call took the live one's place")
    #expect(during.descriptors < before.descriptors + 200)
    #expect(after.descriptors <= before.descriptors + 2)
    #expect(after.threads <= before.threads + 2)
    #expect(after.megabytes <= before.megabytes + 16)
    #expect(pair.caller.waitForExit(seconds: 40) == 0, "\(pair.caller.output)")
    #expect(pair.listener.waitForExit() == 0, "\(pair.listener.output)")
    #expect(try pair.bothHeardEachOther())
  }
}
